internal import HTTPCore
internal import Synchronization
internal import System

/// The connections of all loops together: decides whether a new one is admitted, and which idle one gives way to it.
///
/// A loop notes with each turn since when a connection has been idle, in a number that all may read. Who has to give way is looked for
/// only when there are too many, whatever loop it belongs to: that loop is told, and looks for itself whether it still is idle.
final class ConnectionRegistry: Sendable {
    /// What the registry knows of one connection.
    final class Entry: Sendable {
        let id: ConnectionID
        /// The loop that serves it.
        let member: LoopGroup.Member
        /// Whom it counts for; nil while addresses aren't counted.
        fileprivate let client: String?
        /// One too many: it gets no more than a probe's response or a refusal.
        let isSurplus: Bool
        /// Since when nothing has been owed to the client, as a ``Moment``'s nanoseconds; 0 while something is.
        private let idleNanoseconds = Atomic<Int64>(0)
        fileprivate let place: Int

        fileprivate init(id: ConnectionID, member: LoopGroup.Member, client: String?, isSurplus: Bool, place: Int) {
            self.id = id
            self.member = member
            self.client = client
            self.isSurplus = isSurplus
            self.place = place
        }

        var idleSince: Moment? {
            get {
                let nanoseconds = idleNanoseconds.load(ordering: .relaxed)
                return nanoseconds == 0 ? nil : Moment(nanoseconds: nanoseconds)
            }
            set { idleNanoseconds.store(newValue?.nanoseconds ?? 0, ordering: .relaxed) }
        }
    }

    /// A connection that has to give way, unless it has done something since that moment.
    struct Leaver {
        let entry: Entry
        let since: Moment
    }

    /// What becomes of a new connection.
    struct Admission {
        let entry: Entry
        /// Why it is one too many; nil if it isn't.
        let refusal: Refusal?
        /// What has to be closed for it.
        let leavers: [Leaver]
    }

    fileprivate struct Seat {
        let entry: Entry
        /// It was told to give way, and counts no more.
        var isLeaving = false
    }

    /// Connections that have been idle for the longest, the very longest last. To look for them takes a look at all, so that they are
    /// found many at a time.
    fileprivate struct Candidates {
        var leavers: [Leaver] = []
        /// Not before then is it worth looking again.
        var looksAgain = Moment(nanoseconds: 0)
    }

    fileprivate struct State {
        var limit: Int
        var seats: [Seat?] = []
        var free: [Int] = []
        /// Connections that are no surplus, and those that are; without those that are leaving.
        var regular = 0
        var surplus = 0
        var leaving = 0
        var regularCandidates = Candidates()
        var surplusCandidates = Candidates()
        /// Connections of each client that are no surplus.
        var clients: [String: Int] = [:]
    }

    private let state: Locked<State>
    private let mostSurplus: Int
    /// Nil: half of all, and no limit for this machine and trusted proxies.
    private let mostPerAddress: Int?
    private let ingress: Ingress
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressBlock.init(parsing:))

    /// How many candidates one look finds.
    fileprivate static let found = 256

    init(limits: ServerLimits, ingress: Ingress = Ingress()) {
        state = Locked(State(limit: max(1, limits.connections)))
        mostSurplus = max(0, limits.refusedConnections)
        mostPerAddress = limits.connectionsPerAddress
        self.ingress = ingress
    }

    /// From now on so many connections may be open. Each new one has up to two idle ones give way until there are no more than that.
    func limit(connections: Int) {
        state.withLock { $0.limit = max(1, connections) }
    }

    /// Takes in a new connection; nil if there is no room for it, not even to refuse it.
    func admit(_ id: ConnectionID, _ member: LoopGroup.Member, from peer: SocketAddress, now: Moment) -> Admission? {
        state.withLock { state in
            let client = isLimited(peer) ? IPAddress.client(ofHost: peer.host) : nil
            let most = mostPerAddress ?? max(1, state.limit / 2)
            var leavers: [Leaver] = []
            var refusal: Refusal?
            if let client, state.clients[client, default: 0] >= most {
                refusal = Self.refusal("Your address has \(most) connections already.")
            } else {
                // Two, for there are more than the limit where it was lowered.
                for _ in 0..<2 where state.regular >= state.limit {
                    if let leaver = state.nextLeaver(surplus: false, most: mostSurplus, now: now) { leavers.append(leaver) }
                }
                if state.regular >= state.limit, leavers.isEmpty {
                    refusal = Self.refusal("The server has \(state.limit) connections already.")
                }
            }
            if refusal != nil, state.surplus >= mostSurplus {
                guard let leaver = state.nextLeaver(surplus: true, most: mostSurplus, now: now) else { return nil }
                leavers.append(leaver)
            }
            let entry = state.insert(id, member, client: client, isSurplus: refusal != nil)
            return Admission(entry: entry, refusal: refusal, leavers: leavers)
        }
    }

    /// Whether the connections of a client's address have a limit of their own.
    private func isLimited(_ peer: SocketAddress) -> Bool {
        // All that comes over a Unix socket would be one client's.
        if peer.isUnixSocket { return false }
        if let mostPerAddress { return mostPerAddress > 0 }
        guard let address = IPAddress(parsing: peer.host)?.unmapped else { return false }
        return !Self.loopback.contains { $0.contains(address) } && !ingress.isTrusted(peer)
    }

    /// A connection is gone.
    func remove(_ entry: Entry) {
        state.withLock { state in
            guard let seat = state.seats[entry.place], seat.entry === entry else { return }
            if seat.isLeaving { state.leaving -= 1 } else { state.count(entry, -1) }
            state.seats[entry.place] = nil
            state.free.append(entry.place)
        }
    }

    /// A connection that was told to give way has something to do again, and stays.
    func keep(_ entry: Entry) {
        state.withLock { state in
            guard let seat = state.seats[entry.place], seat.entry === entry, seat.isLeaving else { return }
            state.seats[entry.place]?.isLeaving = false
            state.leaving -= 1
            state.count(entry, 1)
        }
    }

    private static func refusal(_ detail: String) -> Refusal {
        Refusal(status: .serviceUnavailable, detail: detail)
    }
}

extension ConnectionRegistry.State {
    fileprivate mutating func insert(
        _ id: ConnectionID, _ member: LoopGroup.Member, client: String?, isSurplus: Bool
    ) -> ConnectionRegistry.Entry {
        let place = free.popLast() ?? seats.count
        let entry = ConnectionRegistry.Entry(id: id, member: member, client: client, isSurplus: isSurplus, place: place)
        let seat = ConnectionRegistry.Seat(entry: entry)
        if place == seats.count { seats.append(seat) } else { seats[place] = seat }
        count(entry, 1)
        return entry
    }

    fileprivate mutating func count(_ entry: ConnectionRegistry.Entry, _ change: Int) {
        if entry.isSurplus {
            surplus += change
            return
        }
        regular += change
        guard let client = entry.client else { return }
        let count = clients[client, default: 0] + change
        clients[client] = count > 0 ? count : nil
    }

    /// The connection that has been idle for the longest; it counts no more from now on. Nil if there is none, or if `most` were told to
    /// give way and have not closed yet, for their descriptors are still open.
    fileprivate mutating func nextLeaver(surplus: Bool, most: Int, now: Moment) -> ConnectionRegistry.Leaver? {
        guard leaving < max(1, most) else { return nil }
        var candidates = ConnectionRegistry.Candidates()
        // Taken out while it is changed, and put back.
        if surplus { swap(&candidates, &surplusCandidates) } else { swap(&candidates, &regularCandidates) }
        defer {
            if surplus { swap(&candidates, &surplusCandidates) } else { swap(&candidates, &regularCandidates) }
        }
        if let leaver = takeIdle(of: &candidates) { return leaver }
        guard candidates.looksAgain <= now else { return nil }
        // A tenth of the time for looking is enough, where nobody is idle and many come.
        candidates.looksAgain = now + .microseconds(seats.count)
        candidates.leavers = seats.compactMap { seat in
            guard let seat, !seat.isLeaving, seat.entry.isSurplus == surplus, let since = seat.entry.idleSince else { return nil }
            return ConnectionRegistry.Leaver(entry: seat.entry, since: since)
        }
        candidates.leavers.sort { $0.since > $1.since }
        candidates.leavers.removeFirst(max(0, candidates.leavers.count - ConnectionRegistry.found))
        return takeIdle(of: &candidates)
    }

    /// The last of the candidates that has been idle ever since.
    private mutating func takeIdle(of candidates: inout ConnectionRegistry.Candidates) -> ConnectionRegistry.Leaver? {
        while let leaver = candidates.leavers.popLast() {
            let entry = leaver.entry
            guard let seat = seats[entry.place], seat.entry === entry, !seat.isLeaving, entry.idleSince == leaver.since else {
                continue
            }
            seats[entry.place]?.isLeaving = true
            leaving += 1
            count(entry, -1)
            return leaver
        }
        return nil
    }
}
