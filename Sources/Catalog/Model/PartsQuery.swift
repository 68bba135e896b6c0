internal import HTTPCore

/// A checked request for the parts of a work: see ``Catalog/partsQuery(from:)``.
public struct PartsQuery: Sendable, Hashable {
    /// The work's id, which its source has not checked yet.
    public let id: String
    /// Names of formats, or `original`, or `all`; empty for those that the source prefers.
    public let formats: [String]
    /// The maximum number of parts, 1–1,000.
    public let limit: Int
    /// The number of parts to skip, from 0.
    public let offset: Int
    /// Whether the response includes each part's original JSON.
    public let includesRaw: Bool

    /// Creates a query for all selected parts of a work, up to 1,000.
    public init(id: String, formats: [String] = []) {
        self.init(id: id, formats: formats, limit: Self.maximumLimit, offset: 0, includesRaw: false)
    }

    init(id: String, formats: [String], limit: Int, offset: Int, includesRaw: Bool) {
        self.id = id
        self.formats = formats
        self.limit = limit
        self.offset = offset
        self.includesRaw = includesRaw
    }

    /// The maximum number of parts in one response.
    public static let maximumLimit = 1000

    /// The path of a work's parts, without the prefix of all links.
    static func path(of id: String) -> String {
        "/search/parts?id=" + PercentEncoding.encodeForm(id)
    }
}
