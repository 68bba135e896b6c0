internal import System

/// Single flight: equal searches share one request to the source, and a session has one search at a time.
///
/// A pure value that takes events and returns what is to be done. Tables hold only those who wait, so they are bounded by the
/// clients that are connected.
struct SingleFlight: Sendable {
    typealias WaiterID = UInt64
    typealias RequestID = UInt64

    /// What is to be cancelled.
    struct Cancellation: Sendable, Equatable {
        /// The search of the same session that was replaced.
        var superseded: WaiterID?
        /// The request that nobody waits for any more.
        var abandoned: RequestID?
    }

    /// How a waiter gets the listing.
    enum Ticket: Sendable {
        case cached(ListingCache.Entry)
        /// The waiter joined a request that is under way.
        case joined(RequestID)
        /// The waiter is the first: the caller starts the request.
        case started(RequestID)
    }

    private struct InFlight {
        let id: RequestID
        var waiters: Set<WaiterID>
    }

    private struct WaiterRecord {
        let key: String
        let session: String?
    }

    private(set) var cache: ListingCache
    private var inFlight: [String: InFlight] = [:]
    private var waiters: [WaiterID: WaiterRecord] = [:]
    private var sessions: [ExactText: WaiterID] = [:]
    private var lastRequest: RequestID = 0

    init(cache: ListingCache) {
        self.cache = cache
    }

    /// Whether nobody waits and nothing is remembered of anybody.
    var isIdle: Bool { inFlight.isEmpty && waiters.isEmpty && sessions.isEmpty }

    /// How many wait for the key.
    func waiting(for key: String) -> Int { inFlight[key]?.waiters.count ?? 0 }

    /// A waiter wants the listing under the key.
    mutating func join(
        _ waiter: WaiterID, key: String, session: String?, at now: ContinuousClock.Instant
    ) -> (Ticket, Cancellation) {
        if let entry = cache.entry(key, at: now) { return (.cached(entry), supersede(session)) }
        let ticket: Ticket
        // Joining first: if the older search of the session waits for the same request, that goes on.
        if var request = inFlight[key] {
            request.waiters.insert(waiter)
            inFlight[key] = request
            ticket = .joined(request.id)
        } else {
            lastRequest += 1
            inFlight[key] = InFlight(id: lastRequest, waiters: [waiter])
            ticket = .started(lastRequest)
        }
        let cancellation = supersede(session)
        waiters[waiter] = WaiterRecord(key: key, session: session)
        if let session { sessions[ExactText(session)] = waiter }
        return (ticket, cancellation)
    }

    /// The listing, if it is kept and current. If so the search is done, and replaces an older one of the session.
    mutating func cached(key: String, session: String?, at now: ContinuousClock.Instant) -> (ListingCache.Entry, Cancellation)? {
        guard let entry = cache.entry(key, at: now) else { return nil }
        return (entry, supersede(session))
    }

    /// Somebody no longer waits. Nothing happens if they don't.
    mutating func leave(_ waiter: WaiterID) -> Cancellation {
        Cancellation(abandoned: remove(waiter))
    }

    /// A request is done. A listing is kept, with the time until which it is current; a failure never is. Returns who waited.
    mutating func finish(
        _ id: RequestID, key: String, listing: Listing?, at now: ContinuousClock.Instant
    ) -> (waiters: Set<WaiterID>, expires: ContinuousClock.Instant) {
        guard let request = inFlight[key], request.id == id else { return ([], now) }
        inFlight[key] = nil
        for waiter in request.waiters { forget(waiter) }
        guard let listing else { return (request.waiters, now) }
        return (request.waiters, cache.insert(listing, key: key, at: now))
    }

    private mutating func supersede(_ session: String?) -> Cancellation {
        guard let session, let older = sessions[ExactText(session)] else { return Cancellation() }
        return Cancellation(superseded: older, abandoned: remove(older))
    }

    /// Returns the request that nobody waits for any more.
    private mutating func remove(_ waiter: WaiterID) -> RequestID? {
        guard let key = forget(waiter), var request = inFlight[key] else { return nil }
        request.waiters.remove(waiter)
        // An abandoned request leaves the table at once: the next waiter must not join what is being cancelled.
        inFlight[key] = request.waiters.isEmpty ? nil : request
        return request.waiters.isEmpty ? request.id : nil
    }

    @discardableResult
    private mutating func forget(_ waiter: WaiterID) -> String? {
        guard let record = waiters.removeValue(forKey: waiter) else { return nil }
        if let session = record.session.map(ExactText.init), sessions[session] == waiter { sessions[session] = nil }
        return record.key
    }
}
