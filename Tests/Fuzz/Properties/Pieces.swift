/// Divisions of an input, so that reading the pieces can be compared with reading the whole.
enum Pieces {
    /// Three offsets derived from the bytes, so that an input needs no description of its division.
    static func cuts(of bytes: [UInt8]) -> [Int] {
        let hash = hash(bytes)
        return (0..<3).map { Int(hash >> (UInt64($0) * 16) & 0xFFFF) % (bytes.count + 1) }.sorted()
    }

    /// A hash that is equal in every process: FNV-1a.
    static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
