internal import HTTPCore

/// Something that can be downloaded: bytes, and the fields that describe them.
struct Entity: Sendable {
    /// Which default pace applies.
    enum Kind: Sendable { case large, preview, small }

    var content: any EntityContent
    var mediaType: String
    var etag: EntityTag?
    var lastModified: HTTPDate?
    var disposition: String?
    var cacheControl: String?
    /// Whether ranges are served at all.
    var servesRanges = true
    /// Whether its length is kept from the client.
    var hidesLength = false
    var kind = Kind.small
    /// Not 200 only for what is no entity, such as a refused search.
    var status = HTTPStatus.ok
    /// Whether a request for it is worth a line in the log.
    var isLogged = true

    init(_ content: any EntityContent, mediaType: String) {
        self.content = content
        self.mediaType = mediaType
    }

    /// When everything here was last changed, until a fault changes it: 2025-11-01T08:00:00Z. Each edition is an hour younger.
    static func lastModified(version: Int) -> HTTPDate {
        HTTPDate(secondsSinceEpoch: 1_761_984_000 + Int64(version - 1) * 3600)
    }

    /// A strong entity tag that names the edition.
    static func tag(_ name: String, version: Int) -> EntityTag {
        EntityTag(opaque: version == 1 ? name : "\(name)-v\(version)")
    }
}
