internal import DownloadCore

/// The waits of commands for their results.
struct CommandWaits {
    private var receivers: [DownloadMachine.Waiter: DownloadService.ResultReceiver] = [:]
    private var collectors: [DownloadService.AnswerCollector] = []
    private var last: DownloadMachine.Waiter = 0

    var count: Int { receivers.count + collectors.reduce(0) { $0 + $1.left } }
    var isEmpty: Bool { count == 0 }

    /// Adds a wait.
    /// - Parameter receiver: The receiver of the result.
    mutating func add(_ receiver: DownloadService.ResultReceiver) -> DownloadMachine.Waiter {
        last += 1
        receivers[last] = receiver
        return last
    }

    /// Reserves the numbers of the waits of a piece.
    mutating func reserve(_ count: Int) -> Range<DownloadMachine.Waiter> {
        let first = last + 1
        last += DownloadMachine.Waiter(clamping: count)
        return first..<last + 1
    }

    /// Adds the waits of a piece.
    mutating func add(_ collector: DownloadService.AnswerCollector) {
        collectors.append(collector)
    }

    /// Returns the collector of the piece that a wait belongs to; `nil`: the wait belongs to none.
    func collector(of waiter: DownloadMachine.Waiter) -> DownloadService.AnswerCollector? {
        collectors.first { $0.waiters.contains(waiter) }
    }

    /// Whether a wait that belongs to no piece has not ended.
    func contains(_ waiter: DownloadMachine.Waiter) -> Bool { receivers[waiter] != nil }

    /// Removes a wait.
    /// - Returns: The receiver of the result; `nil`: the wait has ended before.
    mutating func remove(_ waiter: DownloadMachine.Waiter) -> DownloadService.ResultReceiver? {
        receivers.removeValue(forKey: waiter)
    }

    /// Removes the waits of a piece.
    mutating func removePiece(_ waiters: Range<DownloadMachine.Waiter>) {
        collectors.removeAll { $0.waiters == waiters }
    }

    /// Ends all waits with the same error.
    mutating func end(_ error: DownloadError) {
        let ended = receivers.values
        receivers = [:]
        for receiver in ended { receiver.receive(.failure(error)) }
        for collector in collectors {
            for waiter in collector.waiters { collector.add(.failure(error), of: waiter) }
        }
    }
}
