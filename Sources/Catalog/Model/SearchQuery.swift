/// A search whose every value has been checked: see ``Catalog/query(from:)``.
public struct SearchQuery: Sendable, Hashable {
    /// The source's id, such as `itunes`.
    public let source: String
    /// What to look for, as sent; holds more than white space.
    public let term: String
    /// The kind of media; nil: the source's default.
    public let media: String?
    /// The kind of result; nil: the source's default for the media.
    public let entity: String?
    /// The field to look in; nil: all.
    public let attribute: String?
    /// ISO 3166-1 alpha-2 code of the store, in capitals; nil: the source's default.
    public let country: String?
    /// The language of the response; nil: the source's default.
    public let lang: String?
    /// Whether explicit content is wanted; nil: the source's default.
    public let explicit: Bool?
    /// Most results, 1–200.
    public let limit: Int
    /// How many results to skip, from 0.
    public let offset: Int
    /// The client's session, in which a newer search replaces this one; nil: none.
    public let session: String?
    /// Whether the response is to hold each result as the source wrote it.
    public let includesRaw: Bool
}
