internal import System

/// The latest requests, in the order in which they were answered. Bounded: the oldest are forgotten.
final class RequestLog: Sendable {
    private let exchanges = Locked<[Exchange]>([])
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(2, capacity) }

    var requests: [LoggedRequest] { exchanges.withLock { $0 }.map(\.logged) }

    func append(_ exchange: Exchange) {
        exchanges.withLock { exchanges in
            if exchanges.count >= capacity { exchanges.removeFirst(capacity / 2) }
            exchanges.append(exchange)
        }
    }
}
