internal import HTTPCore
internal import Synchronization
internal import System

/// The connections of all loops together. It decides whether a new connection is admitted, and which idle one it
/// displaces.
///
/// A loop updates the idle time of a connection in an atomic number after each service. The registry searches for the
/// longest idle connection, of any loop, only when there are too many. It notifies that connection's loop, which checks
/// whether the connection is still idle.
final class ConnectionRegistry: Sendable {
    /// The registry's record of one connection.
    final class Entry: Sendable {
        let id: ConnectionID
        /// The loop that serves the connection.
        let member: LoopGroup.Member
        /// The client that the connection is counted for; nil if addresses are not counted.
        fileprivate let client: String?
        /// Whether the connection exceeds a limit. It then gets only a probe's response or a refusal.
        let isSurplus: Bool
        /// The time since which the connection has been idle, as a ``Moment``'s nanoseconds; 0 if it is not idle.
        private let idleNanoseconds = Atomic<Int64>(0)
        fileprivate let index: Int

        fileprivate init(id: ConnectionID, member: LoopGroup.Member, client: String?, isSurplus: Bool, index: Int) {
            self.id = id
            self.member = member
            self.client = client
            self.isSurplus = isSurplus
            self.index = index
        }

        var idleSince: Moment? {
            get {
                let nanoseconds = idleNanoseconds.load(ordering: .relaxed)
                return nanoseconds == 0 ? nil : Moment(nanoseconds: nanoseconds)
            }
            set { idleNanoseconds.store(newValue?.nanoseconds ?? 0, ordering: .relaxed) }
        }
    }

    /// A connection that must give way, unless it has been active since the given moment.
    struct Leaver {
        let entry: Entry
        let since: Moment
    }

    /// The result of admitting a connection.
    struct Admission {
        let entry: Entry
        /// The refusal of a surplus connection; nil for other connections.
        let refusal: Refusal?
        /// The connections that it displaces.
        let leavers: [Leaver]
    }

    fileprivate struct Row {
        let entry: Entry
        /// Whether the connection must give way, and so does not count any more.
        var isLeaving = false
    }

    /// The connections with the longest idle times, the longest last. A search examines all connections, so it collects
    /// many at once.
    fileprivate struct Candidates {
        var leavers: [Leaver] = []
        /// The time before which another search is not worthwhile.
        var nextSearch = Moment(nanoseconds: 0)
    }

    fileprivate struct State {
        var limit: Int
        var rows: [Row?] = []
        var free: [Int] = []
        /// The numbers of regular and of surplus connections, without those that are leaving.
        var regular = 0
        var surplus = 0
        var leaving = 0
        var regularCandidates = Candidates()
        var surplusCandidates = Candidates()
        /// The number of regular connections of each client.
        var clients: [String: Int] = [:]
    }

    private let state: Locked<State>
    private let maximumSurplus: Int
    /// The limit per address; nil: half of all, without a limit for this machine and trusted proxies.
    private let maximumPerAddress: Int?
    private let ingress: Ingress
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressBlock.init(parsing:))

    /// The maximum number of candidates of one search.
    fileprivate static let found = 256

    init(limits: ServerLimits, ingress: Ingress = Ingress()) {
        state = Locked(State(limit: max(1, limits.connections)))
        maximumSurplus = max(0, limits.refusedConnections)
        maximumPerAddress = limits.connectionsPerAddress
        self.ingress = ingress
    }

    /// Changes the maximum number of connections. Each new one then displaces up to two idle ones, until the limit is
    /// met.
    func limit(connections: Int) {
        state.withLock { $0.limit = max(1, connections) }
    }

    /// Admits a new connection; nil if there is not even room to refuse it.
    /// - Parameter isLast: Whether connections have used up the descriptors of the process.
    func admit(
        _ id: ConnectionID, _ member: LoopGroup.Member, from peer: SocketAddress, isLast: Bool = false, now: Moment
    ) -> Admission? {
        state.withLock { state in
            let client = isLimited(peer) ? IPAddress.client(ofHost: peer.host) : nil
            let maximum = maximumPerAddress ?? max(1, state.limit / 2)
            var leavers: [Leaver] = []
            var refusal: Refusal?
            if let client, state.clients[client, default: 0] >= maximum {
                refusal = Self.refusal("Your address has \(maximum) connections already.")
            } else {
                let limit = isLast ? min(state.limit, state.regular) : state.limit
                // Up to two, since there may be more than the limit after it was lowered.
                for _ in 0..<2 where state.regular >= limit {
                    if let leaver = state.nextLeaver(surplus: false, maximum: maximumSurplus, now: now) { leavers.append(leaver) }
                }
                if state.regular >= limit, leavers.isEmpty {
                    refusal = Self.refusal(
                        isLast
                            ? "The service has no descriptor left (ulimit -n)." : "The server has \(limit) connections already.")
                }
            }
            if refusal != nil, state.surplus >= maximumSurplus {
                guard let leaver = state.nextLeaver(surplus: true, maximum: maximumSurplus, now: now) else { return nil }
                leavers.append(leaver)
            }
            let entry = state.insert(id, member, client: client, isSurplus: refusal != nil)
            return Admission(entry: entry, refusal: refusal, leavers: leavers)
        }
    }

    /// The idle connection that gives way when the process has no descriptor for a new one; nil if none is idle.
    func longestIdle(now: Moment) -> Leaver? {
        state.withLock { $0.nextLeaver(surplus: false, maximum: maximumSurplus, now: now) }
    }

    /// Whether the limit per address applies to a client.
    private func isLimited(_ peer: SocketAddress) -> Bool {
        // All clients of a Unix socket would count as one.
        if peer.isUnixSocket { return false }
        if let maximumPerAddress { return maximumPerAddress > 0 }
        guard let address = IPAddress(parsing: peer.host)?.unmapped else { return false }
        return !Self.loopback.contains { $0.contains(address) } && !ingress.isTrusted(peer)
    }

    /// Removes a closed connection.
    func remove(_ entry: Entry) {
        state.withLock { state in
            guard let row = state.rows[entry.index], row.entry === entry else { return }
            if row.isLeaving { state.leaving -= 1 } else { state.count(entry, -1) }
            state.rows[entry.index] = nil
            state.free.append(entry.index)
        }
    }

    /// Keeps a connection that had to give way, because it is active again.
    func keep(_ entry: Entry) {
        state.withLock { state in
            guard let row = state.rows[entry.index], row.entry === entry, row.isLeaving else { return }
            state.rows[entry.index]?.isLeaving = false
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
        let index = free.popLast() ?? rows.count
        let entry = ConnectionRegistry.Entry(id: id, member: member, client: client, isSurplus: isSurplus, index: index)
        let row = ConnectionRegistry.Row(entry: entry)
        if index == rows.count { rows.append(row) } else { rows[index] = row }
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

    /// The connection with the longest idle time, which does not count any more from now on. Nil if there is none. Also
    /// nil if `maximum` connections are still to close, because their descriptors are in use.
    fileprivate mutating func nextLeaver(surplus: Bool, maximum: Int, now: Moment) -> ConnectionRegistry.Leaver? {
        guard leaving < max(1, maximum) else { return nil }
        var candidates = ConnectionRegistry.Candidates()
        // Swapped out during the change, and back afterwards.
        if surplus { swap(&candidates, &surplusCandidates) } else { swap(&candidates, &regularCandidates) }
        defer {
            if surplus { swap(&candidates, &surplusCandidates) } else { swap(&candidates, &regularCandidates) }
        }
        if let leaver = takeIdle(of: &candidates) { return leaver }
        guard candidates.nextSearch <= now else { return nil }
        // At most a tenth of the time is spent searching if no connection is idle and many arrive.
        candidates.nextSearch = now + .microseconds(rows.count)
        candidates.leavers = rows.compactMap { row in
            guard let row, !row.isLeaving, row.entry.isSurplus == surplus, let since = row.entry.idleSince else { return nil }
            return ConnectionRegistry.Leaver(entry: row.entry, since: since)
        }
        candidates.leavers.sort { $0.since > $1.since }
        candidates.leavers.removeFirst(max(0, candidates.leavers.count - ConnectionRegistry.found))
        return takeIdle(of: &candidates)
    }

    /// The last candidate that has remained idle.
    private mutating func takeIdle(of candidates: inout ConnectionRegistry.Candidates) -> ConnectionRegistry.Leaver? {
        while let leaver = candidates.leavers.popLast() {
            let entry = leaver.entry
            guard let row = rows[entry.index], row.entry === entry, !row.isLeaving, entry.idleSince == leaver.since else {
                continue
            }
            rows[entry.index]?.isLeaving = true
            leaving += 1
            count(entry, -1)
            return leaver
        }
        return nil
    }
}
