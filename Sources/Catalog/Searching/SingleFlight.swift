internal import System

/// Single flight: equal searches share one request to the source, and a session has one search at a time.
///
/// A pure value that receives events and returns actions. Its tables hold only waiters, so connected clients bound
/// their size.
struct SingleFlight: Sendable {
    typealias WaiterID = UInt64
    typealias RequestID = UInt64

    /// The search and the request to cancel.
    struct Cancellation: Sendable, Equatable {
        /// The search of the same session that was superseded; `nil` if there is none.
        var superseded: WaiterID?
        /// The request that has lost its last waiter; `nil` if there is none.
        var abandoned: RequestID?
    }

    /// The way in which a waiter gets the listing.
    enum Ticket: Sendable {
        case cached(ListingCache.Entry)
        /// The waiter joined a running request.
        case joined(RequestID)
        /// The waiter is the first: the caller must start the request.
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

    /// Whether there are no waiters, requests and sessions.
    var isIdle: Bool { inFlight.isEmpty && waiters.isEmpty && sessions.isEmpty }

    /// The number of waiters for the key.
    func waiting(for key: String) -> Int { inFlight[key]?.waiters.count ?? 0 }

    /// Adds a waiter for the listing of the key. A fresh listing is one whose request is still to come, or under way.
    mutating func join(
        _ waiter: WaiterID, key: String, session: String?, isFresh: Bool = false, at now: ContinuousClock.Instant
    ) -> (Ticket, Cancellation) {
        if !isFresh, let entry = cache.entry(key, at: now) { return (.cached(entry), supersede(session)) }
        let ticket: Ticket
        // Joins before superseding: if the older search of the session waits for the same request, the request
        // continues.
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

    /// The listing, if it is in memory and current. The search is then complete, and supersedes an older one of the
    /// session.
    mutating func cached(key: String, session: String?, at now: ContinuousClock.Instant) -> (ListingCache.Entry, Cancellation)? {
        guard let entry = cache.entry(key, at: now) else { return nil }
        return (entry, supersede(session))
    }

    /// Removes a waiter, if it still waits.
    mutating func leave(_ waiter: WaiterID) -> Cancellation {
        Cancellation(abandoned: remove(waiter))
    }

    /// Ends a request. Caches its listing, but never a failure. Returns the waiters, and the time until which the
    /// listing is current.
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

    /// Removes a waiter. Returns the request that has lost its last waiter.
    private mutating func remove(_ waiter: WaiterID) -> RequestID? {
        guard let key = forget(waiter), var request = inFlight[key] else { return nil }
        request.waiters.remove(waiter)
        // An abandoned request leaves the table at once, so that no new waiter joins a request that is being cancelled.
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
