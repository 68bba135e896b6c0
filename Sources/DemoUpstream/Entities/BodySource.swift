/// The bytes of one answer's body, piece after piece.
struct BodySource: Sendable {
    enum Piece: Sendable {
        /// Ready-made bytes, such as what stands between the parts of a multipart body.
        case bytes([UInt8])
        /// A range of the entity.
        case range(Range<Int64>)
        /// The whole entity, compressed.
        case gzip(GzipContent)
    }

    private let content: any EntityContent
    private var pieces: ArraySlice<Piece>
    /// What has been made and not yet been taken.
    private var pending: ArraySlice<UInt8> = []
    /// Where to go on in a piece that is a range.
    private var offset: Int64?

    init(content: any EntityContent, pieces: [Piece]) {
        self.content = content
        self.pieces = pieces[...]
    }

    /// In bytes, at the beginning.
    var length: Int64 {
        pieces.reduce(0) { sum, piece in
            switch piece {
            case .bytes(let bytes): sum + Int64(bytes.count)
            case .range(let range): sum + Int64(range.count)
            case .gzip(let file): sum + file.length
            }
        }
    }

    /// Appends at most `limit` bytes and tells how many; none only at the end (or if `limit` is 0).
    mutating func append(upTo limit: Int, to buffer: inout [UInt8]) -> Int {
        var appended = 0
        while appended < limit {
            if !pending.isEmpty {
                let taken = pending.prefix(limit - appended)
                buffer.append(contentsOf: taken)
                pending = pending.dropFirst(taken.count)
                appended += taken.count
                continue
            }
            switch pieces.first {
            case nil: return appended
            case .bytes(let bytes):
                pending = bytes[...]
                pieces.removeFirst()
            case .range(let range):
                let start = offset ?? range.lowerBound
                let end = min(range.upperBound, start + Int64(limit - appended))
                content.append(start..<end, to: &buffer)
                appended += Int(end - start)
                offset = end
                if end == range.upperBound {
                    pieces.removeFirst()
                    offset = nil
                }
            case .gzip(var file):
                let bytes = file.next()
                pieces.removeFirst()
                if !bytes.isEmpty {
                    pieces = [.gzip(file)] + pieces
                    pending = bytes[...]
                }
            }
        }
        return appended
    }
}
