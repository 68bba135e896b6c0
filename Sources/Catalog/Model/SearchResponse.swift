/// The result of a search, a lookup or a request for parts.
public struct SearchResponse: Sendable {
    /// The source's id.
    public let source: String
    /// The search text; for a lookup or parts the id.
    public let term: String
    /// The requested maximum number of results.
    public let limit: Int
    /// The number of skipped results.
    public let offset: Int
    /// The results in the order of the source or of the work.
    public var items: [SearchItem] { found.map(\.item) }
    /// A text that must be shown with the results; `nil` if there is none.
    public let attribution: String?
    /// The time until which the response is current.
    public let expires: ContinuousClock.Instant
    let found: [FoundItem]
    /// The selection of a work that these parts belong to; `nil` if the results are not parts.
    var work: Selection?

    /// The selected parts of a work. The results are one page of them.
    struct Selection: Sendable {
        let of: FoundItem
        let total: Int
        let formats: [WorkFormat]
        let warnings: [String]
    }

    init(
        source: SourceDescription, term: String, limit: Int, offset: Int, found: [FoundItem],
        expires: ContinuousClock.Instant, work: Selection? = nil
    ) {
        self.source = source.id
        self.term = term
        self.limit = limit
        self.offset = offset
        self.found = found
        attribution = source.attribution
        self.expires = expires
        self.work = work
    }

    /// The work that these parts belong to; `nil` if the results are not parts.
    public var of: SearchItem? { work?.of.item }

    /// The results as JSON objects, without the members that change: links and downloads.
    public var encodedItems: [[UInt8]] { found.map(\.encoded) }

    /// The number of results in this response.
    public var count: Int { found.count }

    /// The number of selected parts on all pages; without a work, the number of results in this response.
    public var total: Int { work?.total ?? found.count }

    /// The faults of the work's description despite which it was read, in sentences.
    public var warnings: [String] { work?.warnings ?? [] }

    /// The formats of the work's parts; empty if its source has none.
    public var formats: [WorkFormat] { work?.formats ?? [] }

    /// The remaining time for which the response is current, at least zero: the value of `Cache-Control: max-age`.
    public func freshness(at now: ContinuousClock.Instant) -> Duration {
        max(.zero, now.duration(to: expires))
    }
}
