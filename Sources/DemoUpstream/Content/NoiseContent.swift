/// Bytes without meaning that are cheap to make and distinguishable. Each block of 4 KiB is a section of one table of
/// noise, at an offset that depends on the seed and the block's number, and begins with a mark of both. So a byte at a
/// wrong offset or from another entity is detected, and making bytes costs a copy.
package struct NoiseContent: EntityContent {
    package let length: Int64
    package let seed: UInt64

    static let blockLength: Int64 = 4096

    package init(length: Int64, seed: UInt64) {
        self.length = max(0, length)
        self.seed = Mix.scramble(seed)
    }

    package func append(_ range: Range<Int64>, to bytes: inout [UInt8]) {
        let range = range.clamped(to: 0..<length)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let block = offset / Self.blockLength
            let blockStart = block * Self.blockLength
            let from = Int(offset - blockStart)
            let to = Int(min(Self.blockLength, range.upperBound - blockStart))
            let mixed = Mix.scramble(seed ^ UInt64(bitPattern: block))
            let start = Int(mixed >> 48)
            let first = bytes.count
            bytes.append(contentsOf: Self.noise[(start + from)..<(start + to)])
            // The mark: 16 bytes that are unique to the block and the entity.
            for index in from..<max(from, min(to, 16)) {
                let word = index < 8 ? mixed : mixed ^ seed
                bytes[first + index - from] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index % 8)))
            }
            offset = blockStart + Int64(to)
        }
    }

    /// A table with 64 KiB of possible offsets, and one block more.
    private static let noise: [UInt8] = {
        var numbers = SeededNumbers(seed: 0x5061_776C)
        var bytes: [UInt8] = []
        while bytes.count < 65_536 + Int(blockLength) {
            let word = numbers.next()
            for start in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * start))) }
        }
        return bytes
    }()
}
