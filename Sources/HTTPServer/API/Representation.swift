internal import HTTPCore

/// The properties of a representation that is served with conditions and ranges.
struct Representation {
    /// The length in bytes.
    let length: Int64
    /// The Content-Type.
    let mediaType: String
    /// The entity tag; a strong one must change whenever a byte does.
    let etag: EntityTag?
    /// The time of the last change; nil if the content can change without changing this time.
    let lastModified: HTTPDate?
}
