public import HTTPCore

/// What is known about something that is served with conditions and ranges.
public struct Representation: Sendable {
    /// Its length in bytes.
    public var length: Int64
    /// Its Content-Type.
    public var mediaType: String
    /// Its entity tag; a strong one must change whenever a byte does.
    public var etag: EntityTag?
    /// When it last changed; leave it out if it can change without this changing.
    public var lastModified: HTTPDate?

    /// A representation with those properties.
    public init(length: Int64, mediaType: String, etag: EntityTag?, lastModified: HTTPDate? = nil) {
        self.length = max(length, 0)
        self.mediaType = mediaType
        self.etag = etag
        self.lastModified = lastModified
    }
}
