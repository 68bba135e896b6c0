internal import HTTPCore

/// The allowance of each client, in bounded memory.
struct ClientAllowances: Sendable {
    /// The maximum number of clients, at about 250 bytes each. Beyond it, some clients are dropped and start with a
    /// full allowance again.
    static let capacity = 10_000

    let size: Allowance.Size
    private var clients: [String: Client] = [:]

    /// One client's allowance and recent charges.
    private struct Client {
        var allowance: Allowance
        /// The marks for which it was charged last, at most as many as the burst.
        var marks: [Int] = []
    }

    init(_ size: Allowance.Size) {
        self.size = size
    }

    /// The number of clients in memory.
    var count: Int { clients.count }

    /// Takes one from the client's allowance; returns the delay until one is available, or `nil` if it was taken.
    mutating func take(_ host: String, now: ContinuousClock.Instant) -> Duration? {
        let client = IPAddress.client(ofHost: host)
        if clients[client] == nil, clients.count >= Self.capacity { makeRoom(now: now) }
        return clients[client, default: Client(allowance: Allowance(size, now: now))].allowance.take(size, now: now)
    }

    /// Takes one from the client's allowance unless this mark was charged lately. Returns the delay until one is
    /// available, or `nil`.
    mutating func take(_ host: String, once mark: Int, now: ContinuousClock.Instant) -> Duration? {
        let client = IPAddress.client(ofHost: host)
        if clients[client]?.marks.contains(mark) == true { return nil }
        if let wait = take(host, now: now) { return wait }
        clients[client]?.marks.append(mark)
        if let count = clients[client]?.marks.count, count > Int(size.burst) { clients[client]?.marks.removeFirst() }
        return nil
    }

    /// Drops the clients with a full allowance. If that does not free enough, drops clients until half of the capacity
    /// is left.
    private mutating func makeRoom(now: ContinuousClock.Instant) {
        clients = clients.filter { !$0.value.allowance.isFull(size, now: now) }
        while clients.count > Self.capacity / 2, let client = clients.keys.first { clients[client] = nil }
    }
}
