/// A part of a representation whose length is known.
public struct ByteRange: Sendable, Hashable {
    /// The offset of the first byte, 0 or more.
    public let start: Int64
    /// How many bytes, at least 1.
    public let length: Int64

    /// A range; negative starts become 0 and lengths below 1 become 1. A length that would pass `Int64.max` is cut.
    public init(start: Int64, length: Int64) {
        self.start = max(start, 0)
        self.length = min(max(length, 1), Int64.max - self.start)
    }

    /// The offset behind the last byte.
    public var end: Int64 { start + length }
}
