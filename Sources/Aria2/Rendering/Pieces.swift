/// A file as pieces of equal length, which clients draw as a bar.
struct Pieces: Sendable, Equatable {
    /// Bytes of a piece except the last: aria2's default, or a multiple of it, so that no file has more than ``maximumCount``.
    let length: Int64
    let count: Int
    private let total: Int64

    private static let usualLength: Int64 = 1 << 20
    /// 64 GiB in pieces of 1 MiB. The size that an origin claims is unbounded; an answer must not be.
    static let maximumCount: Int64 = 1 << 16

    /// - Parameter total: Bytes of the file; `nil` while unknown.
    init(of total: Int64?) {
        let total = max(total ?? 0, 0)
        var length = Self.usualLength
        while total / length >= Self.maximumCount { length *= 2 }
        self.total = total
        self.length = length
        count = Int(total / length + (total % length > 0 ? 1 : 0))
    }

    /// The complete pieces as a bit field, with the first piece as the highest bit of the first byte.
    /// - Parameter ranges: The received byte ranges, in ascending order, without adjacent ranges.
    func bitfield(of ranges: [Range<Int64>]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for range in ranges {
            let first = range.lowerBound / length + (range.lowerBound % length > 0 ? 1 : 0)
            // The last piece may be shorter.
            let end = range.upperBound >= total ? Int64(count) : range.upperBound / length
            guard first < end else { continue }
            for piece in max(first, 0)..<end { bytes[Int(piece >> 3)] |= 0x80 >> UInt8(piece & 7) }
        }
        return bytes
    }
}
