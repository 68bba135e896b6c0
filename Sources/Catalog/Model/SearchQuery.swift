/// A checked search: see ``Catalog/query(from:)``.
public struct SearchQuery: Sendable, Hashable {
    /// The source's id, such as `itunes`.
    public let source: String
    /// The text to search for, as sent; not blank.
    public let term: String
    /// The kind of media; `nil` for the source's default.
    public let media: String?
    /// The kind of result; `nil` for the source's default for the media.
    public let entity: String?
    /// The field to search in; `nil` for all.
    public let attribute: String?
    /// The ISO 3166-1 alpha-2 code of the store, in capitals; `nil` for the source's default.
    public let country: String?
    /// The language of the response; `nil` for the source's default.
    public let lang: String?
    /// Whether explicit content is included; `nil` for the source's default.
    public let explicit: Bool?
    /// The maximum number of results, 1–200.
    public let limit: Int
    /// The number of results to skip, from 0.
    public let offset: Int
    /// The client's session, in which a newer search supersedes this one; `nil` if there is none.
    public let session: String?
    /// Whether the response includes each result's original JSON.
    public let includesRaw: Bool
    /// Whether the results are those that the source has added last, the newest first.
    var isNewestFirst = false
}
