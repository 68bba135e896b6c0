/// A byte range of a representation whose length is known.
public struct ByteRange: Sendable, Hashable {
    /// The offset of the first byte, 0 or more.
    public let start: Int64
    /// The number of bytes, at least 1.
    public let length: Int64

    /// Creates a range. A negative start becomes 0, and a length below 1 becomes 1. The length is reduced if the end
    /// would exceed `Int64.max`.
    public init(start: Int64, length: Int64) {
        self.start = max(start, 0)
        self.length = min(max(length, 1), Int64.max - self.start)
    }

    /// The offset after the last byte.
    public var end: Int64 { start + length }
}
