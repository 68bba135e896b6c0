/// How often each target was asked for. Bounded: the targets that were asked for first are forgotten first.
struct RequestCounters: Sendable {
    private var counts: [String: Int] = [:]
    private var order: [String] = []
    private let capacity: Int

    init(capacity: Int = 2_000) { self.capacity = max(2, capacity) }

    /// Counts a request and returns its number, from 1.
    mutating func count(_ target: String) -> Int {
        if let count = counts[target] {
            counts[target] = count + 1
            return count + 1
        }
        if order.count >= capacity {
            for forgotten in order.prefix(capacity / 2) { counts[forgotten] = nil }
            order.removeFirst(capacity / 2)
        }
        counts[target] = 1
        order.append(target)
        return 1
    }
}
