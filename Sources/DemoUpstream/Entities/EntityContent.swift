/// The bytes of an entity as a function of their offset, so that any range can be made on its own and nothing is
/// stored.
protocol EntityContent: Sendable {
    /// The length in bytes.
    var length: Int64 { get }
    /// Appends the bytes of a range within `0..<length`.
    func append(_ range: Range<Int64>, to bytes: inout [UInt8])
}

/// Small contents that are held in memory.
struct HeldContent: EntityContent {
    let bytes: [UInt8]
    var length: Int64 { Int64(bytes.count) }

    func append(_ range: Range<Int64>, to output: inout [UInt8]) {
        output.append(contentsOf: bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

/// The body of one response, produced piece by piece.
struct EntityBody: Sendable {
    enum Piece: Sendable {
        /// The bytes between the parts of a multipart body.
        case bytes([UInt8])
        /// A range of the entity.
        case range(Range<Int64>)

        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .range(let range): range.upperBound - range.lowerBound
            }
        }
    }

    private let content: any EntityContent
    private var pieces: ArraySlice<Piece>
    /// The number of bytes already taken from the first piece.
    private var offset: Int64 = 0

    init(content: any EntityContent, pieces: [Piece]) {
        self.content = content
        self.pieces = pieces[...]
    }

    /// The length in bytes, before anything is taken.
    var length: Int64 { pieces.reduce(0) { $0 + $1.length } }

    /// Appends at most `limit` bytes and returns their number, which is 0 only at the end or if `limit` is 0.
    mutating func append(upTo limit: Int, to buffer: inout [UInt8]) -> Int {
        var appended = 0
        while appended < limit, let piece = pieces.first {
            let end = min(piece.length, offset + Int64(limit - appended))
            switch piece {
            case .bytes(let bytes): buffer.append(contentsOf: bytes[Int(offset)..<Int(end)])
            case .range(let range): content.append((range.lowerBound + offset)..<(range.lowerBound + end), to: &buffer)
            }
            appended += Int(end - offset)
            offset = end
            if end == piece.length {
                pieces.removeFirst()
                offset = 0
            }
        }
        return appended
    }
}
