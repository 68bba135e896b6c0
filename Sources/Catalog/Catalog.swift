internal import HTTPCore
internal import System

/// Searches in public catalogues of media.
///
/// Listings are kept in memory for a few minutes. Equal searches at the same time share one request to the source,
/// which is cancelled when its last waiter leaves. A rate budget limits the requests to each source.
public final class Catalog: Sendable {
    typealias Outcome = Result<ListingCache.Entry, CatalogError>

    struct State: Sendable {
        var singleFlight: SingleFlight
        /// The rate budgets by source id.
        var budgets: [String: RateBudget] = [:]
        var waiting: [SingleFlight.WaiterID: CheckedContinuation<Outcome, Never>] = [:]
        var tasks: [SingleFlight.RequestID: Task<Void, Never>] = [:]
        var lastWaiter: SingleFlight.WaiterID = 0
    }

    let configuration: CatalogConfiguration
    let clock: any CatalogClock
    let client: any UpstreamClient
    let state: Locked<State>
    /// The sources by id.
    let sources: [String: any SearchSource]

    /// Creates a catalogue that sends its requests through `client`.
    public convenience init(
        configuration: CatalogConfiguration, client: any UpstreamClient, clock: any CatalogClock = SystemClock()
    ) {
        self.init(configuration: configuration, client: client, clock: clock, sources: SearchSourceTable.all)
    }

    /// Creates a catalogue of these sources.
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

    /// The response, if its listing is in memory and current; `nil` otherwise. Like ``search(_:)``, supersedes an older
    /// search of the session.
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

    /// Searches in memory or at the source. Cancelling the task ends the wait, and the request to the source if it has
    /// no other waiters.
    /// - Throws: The reason why there is no response; ``CatalogError/superseded`` as soon as a newer search of the
    ///   session begins.
    public func search(_ query: SearchQuery) async throws(CatalogError) -> SearchResponse {
        guard let source = sources[query.source] else {
            throw .invalidRequest("there is no source \(SearchParameter.quoted(query.source))")
        }
        if let objection = source.objection(to: query) { throw .invalidRequest(objection) }
        let entry = try await entry(for: source.request(for: query), source, session: query.session)
        return response(query, entry, source)
    }

    /// Searches the Internet Archive for the results that it has added last, the newest first, without the memory.
    /// - Throws: The reason why there is no response.
    public func newest(_ term: String) async throws(CatalogError) -> SearchResponse {
        var query = try Self.query(from: [
            QueryItem(name: "source", value: ArchiveSource.description.id), QueryItem(name: "term", value: term),
        ])
        query.isNewestFirst = true
        guard let source = sources[query.source] else { throw .invalidRequest("there is no source 'archive'") }
        if let objection = source.objection(to: query) { throw .invalidRequest(objection) }
        let entry = try await entry(for: source.request(for: query), source, session: nil, isFresh: true)
        return response(query, entry, source)
    }

    private func response(_ query: SearchQuery, _ entry: ListingCache.Entry, _ source: any SearchSource) -> SearchResponse {
        SearchResponse(
            source: type(of: source).description, term: query.term, limit: query.limit, offset: query.offset,
            found: source.select(query, from: entry.listing), expires: entry.expires)
    }

    /// The key of a request; equal requests have equal keys.
    static func key(_ request: SourceRequest, _ source: any SearchSource) -> String {
        "\(type(of: source).description.id) \(request.url.string)"
    }
}
