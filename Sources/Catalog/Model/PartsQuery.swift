/// A look into a work whose every value has been checked: see ``Catalog/partsQuery(from:)``.
public struct PartsQuery: Sendable, Hashable {
    /// The work's id, not checked by its source yet.
    public let id: String
    /// Names of formats, or `original`, or `all`; empty: what its source thinks best.
    public let formats: [String]
    /// Most parts, 1–1,000.
    public let limit: Int
    /// How many parts to skip, from 0.
    public let offset: Int
    /// Whether the response is to hold each part as the source wrote it.
    public let includesRaw: Bool

    /// All that is selected of a work, up to 1,000 parts.
    public init(id: String, formats: [String] = []) {
        self.init(id: id, formats: formats, limit: Self.most, offset: 0, includesRaw: false)
    }

    init(id: String, formats: [String], limit: Int, offset: Int, includesRaw: Bool) {
        self.id = id
        self.formats = formats
        self.limit = limit
        self.offset = offset
        self.includesRaw = includesRaw
    }

    /// Most parts in one response.
    public static let most = 1000
}
