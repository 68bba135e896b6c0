internal import HTTPCore

/// What is known about something that is served with conditions and ranges.
struct Representation {
    /// Its length in bytes.
    let length: Int64
    /// Its Content-Type.
    let mediaType: String
    /// Its entity tag; a strong one must change whenever a byte does.
    let etag: EntityTag?
    /// When it last changed; leave it out if it can change without this changing.
    let lastModified: HTTPDate?
}
