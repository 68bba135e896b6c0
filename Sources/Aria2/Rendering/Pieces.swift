/// A file as pieces of equal length, of which clients draw a bar.
struct Pieces: Sendable, Equatable {
    /// Bytes of a piece but the last: aria2's default, or a multiple of it, so that no file has more than ``most``.
    let length: Int64
    let count: Int
    private let total: Int64

    private static let usualLength: Int64 = 1 << 20
    /// 64 GiB in pieces of 1 MiB. What an origin claims to have is without bound; what is told of it is not.
    static let most: Int64 = 1 << 16

    /// - Parameter total: bytes of the file; `nil` while unknown.
    init(of total: Int64?) {
        let total = max(total ?? 0, 0)
        var length = Self.usualLength
        while total / length >= Self.most { length *= 2 }
        self.total = total
        self.length = length
        count = Int(total / length + (total % length > 0 ? 1 : 0))
    }

    /// Which pieces are there: hexadecimal digits, the first piece the highest bit.
    /// - Parameter ranges: the bytes that are, in order of position, of which no two touch.
    func bitfield(of ranges: [Range<Int64>]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for range in ranges {
            let first = range.lowerBound / length + (range.lowerBound % length > 0 ? 1 : 0)
            // The last piece ends with the file.
            let end = range.upperBound >= total ? Int64(count) : range.upperBound / length
            guard first < end else { continue }
            for piece in max(first, 0)..<end { bytes[Int(piece >> 3)] |= 0x80 >> UInt8(piece & 7) }
        }
        return bytes
    }
}
