/// Who waits for what: equal searches share one request to the source (a flight), and a session has one search at a time.
///
/// A pure value: it is told what happens and says what is to be done. Tables hold only those who wait, so they are bounded by
/// the clients that are connected.
struct SearchDesk: Sendable {
    typealias Waiter = UInt64
    typealias Flight = UInt64

    /// What became of those who no longer wait.
    struct Departure: Sendable, Equatable {
        /// The search of the same session that was replaced.
        var superseded: Waiter?
        /// The request that nobody waits for any more.
        var abandoned: Flight?
    }

    /// What somebody who came gets.
    enum Arrival: Sendable {
        case cached(ListingCache.Entry)
        /// Wait; a request is under way.
        case joins(Flight)
        /// Wait; the request is to be started.
        case begins(Flight)
    }

    private struct FlightRecord {
        let number: Flight
        var waiters: Set<Waiter>
    }

    private struct WaiterRecord {
        let key: String
        let session: String?
    }

    private(set) var cache: ListingCache
    private var flights: [String: FlightRecord] = [:]
    private var waiters: [Waiter: WaiterRecord] = [:]
    private var sessions: [String: Waiter] = [:]
    private var lastFlight: Flight = 0

    init(cache: ListingCache) {
        self.cache = cache
    }

    /// Whether nobody waits and nothing is remembered of anybody.
    var isIdle: Bool { flights.isEmpty && waiters.isEmpty && sessions.isEmpty }

    /// How many wait for the key.
    func waiting(for key: String) -> Int { flights[key]?.waiters.count ?? 0 }

    /// Somebody wants the listing under the key.
    mutating func arrive(
        _ waiter: Waiter, key: String, session: String?, at now: ContinuousClock.Instant
    ) -> (Arrival, Departure) {
        if let entry = cache.entry(key, at: now) { return (.cached(entry), supersede(session)) }
        let arrival: Arrival
        // Taking the seat first: if the older search of the session waits for the same request, that goes on.
        if var flight = flights[key] {
            flight.waiters.insert(waiter)
            flights[key] = flight
            arrival = .joins(flight.number)
        } else {
            lastFlight += 1
            flights[key] = FlightRecord(number: lastFlight, waiters: [waiter])
            arrival = .begins(lastFlight)
        }
        let departure = supersede(session)
        waiters[waiter] = WaiterRecord(key: key, session: session)
        if let session { sessions[session] = waiter }
        return (arrival, departure)
    }

    /// The listing, if it is kept and current. If so the search is answered, and replaces an older one of the session.
    mutating func peek(key: String, session: String?, at now: ContinuousClock.Instant) -> (ListingCache.Entry, Departure)? {
        guard let entry = cache.entry(key, at: now) else { return nil }
        return (entry, supersede(session))
    }

    /// Somebody no longer waits. Nothing happens if they don't.
    mutating func leave(_ waiter: Waiter) -> Departure {
        Departure(abandoned: remove(waiter))
    }

    /// A request is done. A listing is kept, with the time until which it is current; a failure never is. Returns who waited.
    mutating func land(
        _ number: Flight, key: String, listing: Listing?, at now: ContinuousClock.Instant
    ) -> (waiters: Set<Waiter>, expires: ContinuousClock.Instant) {
        guard let flight = flights[key], flight.number == number else { return ([], now) }
        flights[key] = nil
        for waiter in flight.waiters { forget(waiter) }
        guard let listing else { return (flight.waiters, now) }
        return (flight.waiters, cache.insert(listing, key: key, at: now))
    }

    private mutating func supersede(_ session: String?) -> Departure {
        guard let session, let older = sessions[session] else { return Departure() }
        return Departure(superseded: older, abandoned: remove(older))
    }

    /// Returns the flight that nobody waits for any more.
    private mutating func remove(_ waiter: Waiter) -> Flight? {
        guard let key = forget(waiter), var flight = flights[key] else { return nil }
        flight.waiters.remove(waiter)
        // An abandoned flight leaves the table at once: who comes next must not board what is being cancelled.
        flights[key] = flight.waiters.isEmpty ? nil : flight
        return flight.waiters.isEmpty ? flight.number : nil
    }

    @discardableResult
    private mutating func forget(_ waiter: Waiter) -> String? {
        guard let record = waiters.removeValue(forKey: waiter) else { return nil }
        if let session = record.session, sessions[session] == waiter { sessions[session] = nil }
        return record.key
    }
}
