internal import HTTPClient
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
    private let sources: [String: any SearchSource]

    /// A catalog that asks its sources through `client`.
    public init(configuration: CatalogConfiguration, client: any UpstreamClient, clock: any CatalogClock = SystemClock()) {
        self.configuration = configuration
        self.client = client
        self.clock = clock
        sources = [
            ITunesSource.description.id: ITunesSource(base: configuration.itunesURL),
            PostsSource.description.id: PostsSource(base: configuration.postsURL),
        ]
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
        let entry = try await entry(for: source.request(for: query), source, session: query.session)
        return response(query, entry, source)
    }

    /// Finds one item by its id, such as `itunes:263301273`. Throws ``CatalogError/notFound(_:)`` if the source has none, and
    /// ``CatalogError/invalidRequest(_:)`` if it is no id.
    public func lookup(_ id: String) async throws(CatalogError) -> SearchResponse {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let source = sources[String(parts[0])], let request = source.request(forID: parts[1]) else {
            throw .invalidRequest(
                "the query parameter 'id' is \(SearchParameter.quoted(id)); it takes \(Self.acceptedIDs)")
        }
        // Most lookups are of something that was just found.
        let now = clock.now
        let known = state.withLock { $0.singleFlight.cache.entries(prefix: "\(parts[0]) ", at: now) }
        var found: (item: SearchItem, expires: ContinuousClock.Instant)?
        for entry in known {
            if let item = entry.listing.items.first(where: { $0.id == id }) { found = (item, entry.expires) }
        }
        if found == nil {
            let entry = try await entry(for: request, source, session: nil)
            if let item = entry.listing.items.first(where: { $0.id == id }) { found = (item, entry.expires) }
        }
        guard let found else { throw .notFound("there is nothing with the id \(SearchParameter.quoted(id))") }
        let description = type(of: source).description
        return SearchResponse(
            source: description.id, term: id, limit: 1, offset: 0, items: [found.item], attribution: description.attribution,
            expires: found.expires)
    }

    /// What an id of an item looks like.
    public static let acceptedIDs = "itunes:<number>, itunes:collection:<number>, itunes:artist:<number> or posts:<number>"

    private func response(_ query: SearchQuery, _ entry: ListingCache.Entry, _ source: any SearchSource) -> SearchResponse {
        SearchResponse(
            source: query.source, term: query.term, limit: query.limit, offset: query.offset,
            items: source.select(query, from: entry.listing), attribution: type(of: source).description.attribution,
            expires: entry.expires)
    }

    /// Whether nobody waits and no session is remembered.
    var isIdle: Bool {
        state.withLock { $0.singleFlight.isIdle && $0.waiting.isEmpty && $0.tasks.isEmpty }
    }

    /// How many wait for the response to the search.
    func waiting(for query: SearchQuery) -> Int {
        guard let source = sources[query.source] else { return 0 }
        let key = Self.key(source.request(for: query), source)
        return state.withLock { $0.singleFlight.waiting(for: key) }
    }

    /// What equal requests have in common.
    static func key(_ request: ClientRequest, _ source: any SearchSource) -> String {
        "\(type(of: source).description.id) \(request.url.string)"
    }
}
