/// The bytes of an entity as a function of their offset, so that any range can be made without what lies before it, and nothing is kept.
protocol EntityContent: Sendable {
    /// In bytes.
    var length: Int64 { get }
    /// Appends the bytes of a range, which lies within `0..<length`.
    func append(_ range: Range<Int64>, to bytes: inout [UInt8])
}

/// A content that is held in memory because it is small.
struct HeldContent: EntityContent {
    let bytes: [UInt8]
    var length: Int64 { Int64(bytes.count) }

    func append(_ range: Range<Int64>, to output: inout [UInt8]) {
        let range = range.clamped(to: 0..<length)
        output.append(contentsOf: bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}
