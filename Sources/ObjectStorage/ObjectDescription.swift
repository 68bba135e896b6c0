/// What the service says of an object.
public struct ObjectDescription: Sendable, Equatable {
    /// Its bytes.
    public let length: Int64
    /// Its entity tag without quotes; empty if it has none. Often, but not always, the MD5 of its bytes.
    public let tag: String

    /// A description from its parts.
    public init(length: Int64, tag: String) {
        self.length = length
        self.tag = tag
    }
}
