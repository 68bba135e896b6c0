/// The bytes of an entity as a function of their offset, so that any range can be made on its own and nothing is
/// stored.
package protocol EntityContent: Sendable {
    /// The length in bytes.
    var length: Int64 { get }
    /// Appends the bytes of a range within `0..<length`.
    func append(_ range: Range<Int64>, to bytes: inout [UInt8])
}

/// Small contents that are held in memory.
package struct HeldContent: EntityContent {
    let bytes: [UInt8]
    package var length: Int64 { Int64(bytes.count) }

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package func append(_ range: Range<Int64>, to output: inout [UInt8]) {
        output.append(contentsOf: bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}
