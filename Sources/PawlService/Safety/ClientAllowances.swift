internal import HTTPCore

/// An allowance for each client that has used some of its own, in bounded memory.
struct ClientAllowances: Sendable {
    /// The most clients that are kept apart. Each takes some 100 bytes; beyond that, some are dropped and begin anew.
    static let capacity = 10_000

    let size: TokenBucket.Size
    private var buckets: [String: TokenBucket] = [:]

    init(_ size: TokenBucket.Size) {
        self.size = size
    }

    /// How many clients are remembered.
    var count: Int { buckets.count }

    /// Takes one of the client's allowance, or returns how long it takes until there is one.
    mutating func take(_ host: String, now: ContinuousClock.Instant) -> Duration? {
        let client = Self.client(host)
        if buckets[client] == nil, buckets.count >= Self.capacity { makeRoom(now: now) }
        return buckets[client, default: TokenBucket(size, now: now)].take(size, now: now)
    }

    /// How long it takes until the client's allowance has one; `nil` if it has.
    func wait(_ host: String, now: ContinuousClock.Instant) -> Duration? {
        // Nearly nobody ever has to wait.
        buckets.isEmpty ? nil : buckets[Self.client(host)]?.wait(size, now: now)
    }

    /// Drops the clients that have their whole allowance, and if those are none, half of all: memory is bounded whatever comes.
    private mutating func makeRoom(now: ContinuousClock.Instant) {
        buckets = buckets.filter { !$0.value.isFull(size, now: now) }
        while buckets.count > Self.capacity / 2, let client = buckets.keys.first { buckets[client] = nil }
    }

    /// Who is behind an address: whoever has one of IPv6 has 2^64 of them.
    static func client(_ host: String) -> String {
        guard case .v6(let bits) = IPAddress(parsing: host), bits >> 32 != 0xFFFF else { return host }
        return String(bits >> 64, radix: 16)
    }
}
