internal import HTTPCore

/// An allowance for each client that has used some of its own, in bounded memory.
struct ClientAllowances: Sendable {
    /// The most clients that are kept apart. Each takes some 250 bytes; beyond that, some are dropped and begin anew.
    static let capacity = 10_000

    let size: TokenBucket.Size
    private var clients: [String: Allowance] = [:]

    /// What one client has left.
    private struct Allowance {
        var bucket: TokenBucket
        /// What it was last taken for, where that counts once: as many as may be taken at once.
        var marks: [Int] = []
    }

    init(_ size: TokenBucket.Size) {
        self.size = size
    }

    /// How many clients are remembered.
    var count: Int { clients.count }

    /// Takes one of the client's allowance, or returns how long it takes until there is one.
    mutating func take(_ host: String, now: ContinuousClock.Instant) -> Duration? {
        let client = IPAddress.client(ofHost: host)
        if clients[client] == nil, clients.count >= Self.capacity { makeRoom(now: now) }
        return clients[client, default: Allowance(bucket: TokenBucket(size, now: now))].bucket.take(size, now: now)
    }

    /// The same, but what has been taken for this mark lately is not taken again.
    mutating func take(_ host: String, once mark: Int, now: ContinuousClock.Instant) -> Duration? {
        let client = IPAddress.client(ofHost: host)
        if clients[client]?.marks.contains(mark) == true { return nil }
        if let wait = take(host, now: now) { return wait }
        clients[client]?.marks.append(mark)
        if let count = clients[client]?.marks.count, count > Int(size.burst) { clients[client]?.marks.removeFirst() }
        return nil
    }

    /// Drops the clients that have their whole allowance, and if those are none, half of all: memory is bounded whatever comes.
    private mutating func makeRoom(now: ContinuousClock.Instant) {
        clients = clients.filter { !$0.value.bucket.isFull(size, now: now) }
        while clients.count > Self.capacity / 2, let client = clients.keys.first { clients[client] = nil }
    }
}
