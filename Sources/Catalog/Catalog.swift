internal import HTTPCore
internal import System

/// Searches in catalogues of media that others keep.
///
/// Listings are kept in memory for a few minutes. Equal searches at the same time share one request to the source, which is
/// cancelled when nobody waits for it any more. A source is asked no more often than its budget allows.
public final class Catalog: Sendable {
    typealias Outcome = Result<ListingCache.Entry, CatalogError>

    struct State: Sendable {
        var singleFlight: SingleFlight
        /// By the source's id.
        var budgets: [String: RateBudget] = [:]
        var waiting: [SingleFlight.WaiterID: CheckedContinuation<Outcome, Never>] = [:]
        var tasks: [SingleFlight.RequestID: Task<Void, Never>] = [:]
        var lastWaiter: SingleFlight.WaiterID = 0
    }

    let configuration: CatalogConfiguration
    let clock: any CatalogClock
    let client: any UpstreamClient
    let state: Locked<State>
    /// By id.
    let sources: [String: any SearchSource]

    /// A catalog that asks its sources through `client`.
    public convenience init(
        configuration: CatalogConfiguration, client: any UpstreamClient, clock: any CatalogClock = SystemClock()
    ) {
        self.init(configuration: configuration, client: client, clock: clock, sources: SourceTable.all)
    }

    /// A catalog of these sources.
    init(
        configuration: CatalogConfiguration, client: any UpstreamClient, clock: any CatalogClock,
        sources types: [any SearchSource.Type]
    ) {
        self.configuration = configuration
        self.client = client
        self.clock = clock
        var sources: [String: any SearchSource] = [:]
        for source in types {
            let description = source.description
            sources[description.id] = source.init(base: configuration.bases[description.id] ?? description.base)
        }
        self.sources = sources
        let cache = ListingCache(
            maximumEntries: configuration.cacheEntries, maximumBytes: configuration.cacheBytes,
            timeToLive: configuration.timeToLive)
        state = Locked(State(singleFlight: SingleFlight(cache: cache)))
    }

    /// The response, if its listing is in memory and current. Like ``search(_:)`` it then replaces an older search of the session.
    public func cached(_ query: SearchQuery) -> SearchResponse? {
        guard let source = sources[query.source] else { return nil }
        let key = Self.key(source.request(for: query), source)
        let now = clock.now
        guard let (entry, cancellation) = state.withLock({ $0.singleFlight.cached(key: key, session: query.session, at: now) })
        else {
            return nil
        }
        cancel(cancellation)
        return response(query, entry, source)
    }

    /// Searches, in memory or at the source. Cancelling the task ends the wait, and the request to the source if nobody else
    /// waits for it.
    ///
    /// Throws why there is no response; ``CatalogError/superseded`` as soon as a newer search of the session begins.
    public func search(_ query: SearchQuery) async throws(CatalogError) -> SearchResponse {
        guard let source = sources[query.source] else {
            throw .invalidRequest("there is no source \(SearchParameter.quoted(query.source))")
        }
        if let objection = source.objection(to: query) { throw .invalidRequest(objection) }
        let entry = try await entry(for: source.request(for: query), source, session: query.session)
        return response(query, entry, source)
    }

    private func response(_ query: SearchQuery, _ entry: ListingCache.Entry, _ source: any SearchSource) -> SearchResponse {
        SearchResponse(
            source: type(of: source).description, term: query.term, limit: query.limit, offset: query.offset,
            found: source.select(query, from: entry.listing), expires: entry.expires)
    }

    /// Whether nobody waits and no session is remembered.
    var isIdle: Bool {
        state.withLock { $0.singleFlight.isIdle && $0.waiting.isEmpty && $0.tasks.isEmpty }
    }

    /// How many wait for the response to the search.
    func waiting(for query: SearchQuery) -> Int {
        guard let source = sources[query.source] else { return 0 }
        return waiting(for: Self.key(source.request(for: query), source))
    }

    /// How many wait under the key.
    func waiting(for key: String) -> Int {
        state.withLock { $0.singleFlight.waiting(for: key) }
    }

    /// What equal requests have in common.
    static func key(_ request: SourceRequest, _ source: any SearchSource) -> String {
        "\(type(of: source).description.id) \(request.url.string)"
    }
}
