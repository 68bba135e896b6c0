/// The deadlines of requests that wait for a result. Pure.
///
/// Waits are added and removed without a search. Ended waits stay in the list until they are its first.
struct WaitLimits {
    typealias Number = Int
    typealias End = @Sendable () -> Void

    /// The waits in the order of their numbers, from `head` on; `nil` for an ended wait.
    private var waits: [(deadline: ContinuousClock.Instant, end: End)?] = []
    private var head = 0
    /// The number of the first wait in the list.
    private var first: Number = 0
    /// The time at which ``takeExpired(now:)`` is due; `nil` if there is no wait.
    private(set) var next: ContinuousClock.Instant?

    /// Adds a wait.
    /// - Parameter end: Ends the wait without a result.
    /// - Returns: The number of the wait, and whether ``next`` is earlier than before.
    mutating func add(by deadline: ContinuousClock.Instant, end: @escaping End) -> (number: Number, isFirst: Bool) {
        waits.append((deadline, end))
        let isFirst = next.map { deadline < $0 } ?? true
        if isFirst { next = deadline }
        return (first + waits.count - 1, isFirst)
    }

    /// Removes a wait that has its result.
    mutating func remove(_ number: Number) {
        // An expired wait may have left the list.
        guard number >= first + head else { return }
        waits[number - first] = nil
        dropEnded()
    }

    /// Removes the waits whose deadlines have passed, and finds the next deadline.
    /// - Returns: The functions that end those waits, in the order of the deadlines.
    mutating func takeExpired(now: ContinuousClock.Instant) -> [End] {
        var expired: [(deadline: ContinuousClock.Instant, end: End)] = []
        next = nil
        for offset in head..<waits.count {
            guard let wait = waits[offset] else { continue }
            if wait.deadline <= now {
                expired.append(wait)
                waits[offset] = nil
            } else if next.map({ wait.deadline < $0 }) ?? true {
                next = wait.deadline
            }
        }
        dropEnded()
        return expired.sorted { $0.deadline < $1.deadline }.map(\.end)
    }

    private mutating func dropEnded() {
        while head < waits.count, waits[head] == nil { head += 1 }
        guard head == waits.count || head > 256 && head > waits.count / 2 else { return }
        waits.removeFirst(head)
        first += head
        head = 0
    }
}
