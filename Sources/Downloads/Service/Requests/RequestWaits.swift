internal import DownloadCore

/// The waits of requests for their results, each with a deadline. Pure.
///
/// Waits are added and removed without a search. Ended waits stay in the list until they are its first.
struct RequestWaits {
    typealias Receiver = (Result<Download, DownloadError>) -> Void

    /// The waits in the order of their numbers, from `head` on; `nil` for an ended wait.
    private var waits: [(deadline: ContinuousClock.Instant, receiver: Receiver)?] = []
    private var head = 0
    /// The number of the first wait in the list.
    private var first: DownloadMachine.Waiter = 1
    /// The number of waits that have not ended.
    private(set) var count = 0
    /// The time at which ``takeExpired(now:)`` is due; `nil` if there is no wait.
    private(set) var next: ContinuousClock.Instant?

    /// Adds a wait.
    /// - Parameter receiver: Receives the result.
    /// - Returns: The number of the wait, and whether ``next`` is earlier than before.
    mutating func add(
        by deadline: ContinuousClock.Instant, for receiver: @escaping Receiver
    ) -> (number: DownloadMachine.Waiter, isFirst: Bool) {
        waits.append((deadline, receiver))
        count += 1
        let isFirst = next.map { deadline < $0 } ?? true
        if isFirst { next = deadline }
        return (first + UInt64(waits.count) - 1, isFirst)
    }

    /// Whether a wait has not ended.
    func contains(_ number: DownloadMachine.Waiter) -> Bool { offset(of: number) != nil }

    /// Removes a wait.
    /// - Returns: The receiver of the result; `nil`: the wait has ended before.
    @discardableResult
    mutating func remove(_ number: DownloadMachine.Waiter) -> Receiver? {
        guard let offset = offset(of: number), let wait = waits[offset].take() else { return nil }
        count -= 1
        dropEnded()
        return wait.receiver
    }

    /// Removes the waits whose deadlines have passed, and finds the next deadline.
    /// - Parameter now: The time; `nil`: all waits end.
    /// - Returns: The receivers of those waits, in the order of the deadlines.
    mutating func takeExpired(now: ContinuousClock.Instant?) -> [Receiver] {
        var expired: [(deadline: ContinuousClock.Instant, receiver: Receiver)] = []
        next = nil
        for offset in head..<waits.count {
            guard let wait = waits[offset] else { continue }
            if now.map({ wait.deadline <= $0 }) ?? true {
                expired.append(wait)
                waits[offset] = nil
            } else if next.map({ wait.deadline < $0 }) ?? true {
                next = wait.deadline
            }
        }
        count -= expired.count
        dropEnded()
        return expired.sorted { $0.deadline < $1.deadline }.map(\.receiver)
    }

    private func offset(of number: DownloadMachine.Waiter) -> Int? {
        // An ended wait may have left the list.
        guard number >= first + UInt64(head), number < first + UInt64(waits.count) else { return nil }
        let offset = Int(number - first)
        return waits[offset] == nil ? nil : offset
    }

    private mutating func dropEnded() {
        while head < waits.count, waits[head] == nil { head += 1 }
        guard head == waits.count || head > 256 && head > waits.count / 2 else { return }
        if head == waits.count, head <= 256 { waits.removeAll(keepingCapacity: true) } else { waits.removeFirst(head) }
        first += UInt64(head)
        head = 0
    }
}
