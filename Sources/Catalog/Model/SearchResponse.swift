/// What a search, a lookup or a look into a work found.
public struct SearchResponse: Sendable {
    /// The source's id.
    public let source: String
    /// What was looked for; of a lookup or a work the id.
    public let term: String
    /// Most results asked for.
    public let limit: Int
    /// How many results were skipped.
    public let offset: Int
    /// The results in the source's order, or in the work's.
    public var items: [SearchItem] { found.map(\.item) }
    /// What must stand beside the results; nil: nothing.
    public let attribution: String?
    /// Until when the response is current; then the source is asked again.
    public let expires: ContinuousClock.Instant
    let found: [FoundItem]
    /// The work whose parts these are; nil: they are no work's.
    var work: Selection?

    /// What is selected of a work, of which the results are one page.
    struct Selection: Sendable {
        let of: FoundItem
        let total: Int
        let formats: [WorkFormat]
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

    /// The work whose parts these are; nil: they are no work's.
    public var of: SearchItem? { work?.of.item }

    /// The results as JSON objects, without what changes: their links and downloads.
    public var encodedItems: [[UInt8]] { found.map(\.encoded) }

    /// How many results there are here.
    public var count: Int { found.count }

    /// How many parts are selected, of which these are some; without a work how many there are here.
    public var total: Int { work?.total ?? found.count }

    /// The formats that the work's parts come in; empty if its source has none.
    public var formats: [WorkFormat] { work?.formats ?? [] }

    /// How long the response is still current, at least zero: what `Cache-Control: max-age` says.
    public func freshness(at now: ContinuousClock.Instant) -> Duration {
        max(.zero, now.duration(to: expires))
    }
}
