/// The requests that wait for a result, each with a deadline. Pure.
///
/// Nearly all requests have the same limit, so a new one has the last deadline: it is added without a search. Answered requests stay in the
/// queue until they are its first.
struct WaitLimits {
    typealias Number = UInt64

    private var ends: [Number: @Sendable () -> Void] = [:]
    /// In the order of the deadlines, from `head` on; those that were answered are among them.
    private var queue: [(number: Number, deadline: ContinuousClock.Instant)] = []
    private var head = 0

    /// The deadline of the request that has to be answered first.
    var next: ContinuousClock.Instant? { head < queue.count ? queue[head].deadline : nil }

    /// Adds a request.
    /// - Parameter end: ends its wait without a result.
    /// - Returns: whether it has to be answered first.
    mutating func add(_ number: Number, by deadline: ContinuousClock.Instant, end: @escaping @Sendable () -> Void) -> Bool {
        dropAnswered()
        ends[number] = end
        var place = queue.count
        while place > head, queue[place - 1].deadline > deadline { place -= 1 }
        queue.insert((number, deadline), at: place)
        return place == head
    }

    /// Removes a request that has its result.
    mutating func remove(_ number: Number) {
        ends[number] = nil
    }

    /// Removes the requests whose time is over.
    /// - Returns: what ends their waits.
    mutating func takeExpired(now: ContinuousClock.Instant) -> [@Sendable () -> Void] {
        var expired: [@Sendable () -> Void] = []
        dropAnswered()
        while let next, next <= now {
            if let end = ends.removeValue(forKey: queue[head].number) { expired.append(end) }
            dropAnswered()
        }
        return expired
    }

    private mutating func dropAnswered() {
        while head < queue.count, ends[queue[head].number] == nil { head += 1 }
        guard head == queue.count || head > 256 && head > queue.count / 2 else { return }
        queue.removeFirst(head)
        head = 0
    }
}
