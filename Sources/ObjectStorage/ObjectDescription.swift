/// The properties of an object in object storage.
public struct ObjectDescription: Sendable, Equatable {
    /// The length in bytes.
    public let length: Int64
    /// The entity tag without quotes; empty if there is none. Often, but not always, it is the MD5 of the bytes.
    public let tag: String
}
