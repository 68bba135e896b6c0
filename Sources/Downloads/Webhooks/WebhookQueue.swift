internal import HTTPCore

/// Which messages to webhooks wait, which are due, and which are on their way: never more at once than so many, nor more than so
/// many to one host, so that one that hangs does not hold up the others.
struct WebhookQueue: Sendable {
    /// The numbers.
    struct Limits: Sendable {
        /// Messages on their way at once.
        var concurrent = 8
        /// Of those, messages to one host and port.
        var perHost = 2
        /// Messages kept. Each holds a download; beyond that none is taken.
        var kept = 10_000
    }

    private let limits: Limits
    private var deliveries: [DownloadID: WebhookDelivery] = [:]
    /// Those that wait, by when they are due.
    private var waiting = IndexedHeap<DownloadID, ContinuousClock.Instant>()
    /// Those that are due or on their way.
    private var line: DownloadQueue
    /// How many have become due so far.
    private var arrivals: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
        line = DownloadQueue(limits: .init(maxConcurrent: limits.concurrent, maxPerHost: limits.perHost))
    }

    var count: Int { deliveries.count }

    /// Whether it has a message already.
    func contains(_ id: DownloadID) -> Bool { deliveries[id] != nil }

    /// When the next one is due; `nil` if none waits.
    var nextDue: ContinuousClock.Instant? { waiting.first?.rank }

    /// Adds a message, or has one wait again after an attempt.
    /// - Returns: false if there are too many: then it is not kept.
    mutating func add(_ delivery: WebhookDelivery, due: ContinuousClock.Instant) -> Bool {
        line.remove(delivery.id)
        guard deliveries[delivery.id] != nil || deliveries.count < limits.kept else { return false }
        deliveries[delivery.id] = delivery
        waiting.set(delivery.id, to: due)
        return true
    }

    /// Takes those that are to be sent now.
    mutating func startable(at now: ContinuousClock.Instant) -> [WebhookDelivery] {
        while let (id, due) = waiting.first, due <= now, let delivery = deliveries[id] {
            waiting.remove(id)
            arrivals += 1
            let rank = QueueRank(priority: 0, arrival: DownloadID(value: UInt128(arrivals)))
            line.enqueue(id, host: Self.host(of: delivery), rank: rank)
        }
        return line.startable().compactMap { deliveries[$0] }
    }

    /// Forgets one that has arrived or been given up.
    mutating func remove(_ id: DownloadID) {
        deliveries[id] = nil
        waiting.remove(id)
        line.remove(id)
    }

    private static func host(of delivery: WebhookDelivery) -> String {
        HTTPURL(delivery.url).map { "\($0.host):\($0.port)" } ?? ""
    }
}
