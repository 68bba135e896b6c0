/// The waits of requests for a result, each with a deadline. Pure.
///
/// A wait is added and removed without a search. Waits that have ended stay in the list until they are its first.
struct WaitLimits {
    typealias Number = Int
    typealias End = @Sendable () -> Void

    /// In the order of their numbers, from `head` on; `nil`: the wait has ended.
    private var waits: [(deadline: ContinuousClock.Instant, end: End)?] = []
    private var head = 0
    /// The number of the first wait in the list.
    private var first: Number = 0
    /// When ``takeExpired(now:)`` is due; `nil`: never.
    private(set) var next: ContinuousClock.Instant?

    /// Adds a wait.
    /// - Parameter end: Ends it without a result.
    /// - Returns: Its number, and whether ``next`` is earlier than before.
    mutating func add(by deadline: ContinuousClock.Instant, end: @escaping End) -> (number: Number, isFirst: Bool) {
        waits.append((deadline, end))
        let isFirst = next.map { deadline < $0 } ?? true
        if isFirst { next = deadline }
        return (first + waits.count - 1, isFirst)
    }

    /// Removes a wait that has its result.
    mutating func remove(_ number: Number) {
        // One that was taken has left the list.
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
