internal import DownloadCore

/// The waits of commands for their results.
struct CommandWaits {
    private var receivers: [DownloadMachine.Waiter: DownloadService.ResultReceiver] = [:]
    private var last: DownloadMachine.Waiter = 0

    var count: Int { receivers.count }
    var isEmpty: Bool { receivers.isEmpty }

    /// Adds a wait.
    /// - Parameter receiver: The receiver of the result.
    mutating func add(_ receiver: DownloadService.ResultReceiver) -> DownloadMachine.Waiter {
        last += 1
        receivers[last] = receiver
        return last
    }

    /// Reserves the numbers of several waits.
    mutating func reserve(_ count: Int) -> Range<DownloadMachine.Waiter> {
        let first = last + 1
        last += DownloadMachine.Waiter(clamping: count)
        return first..<last + 1
    }

    /// Adds a wait with a reserved number.
    mutating func add(_ receiver: DownloadService.ResultReceiver, as waiter: DownloadMachine.Waiter) {
        receivers[waiter] = receiver
    }

    func contains(_ waiter: DownloadMachine.Waiter) -> Bool { receivers[waiter] != nil }

    /// Removes a wait.
    /// - Returns: The receiver of the result; `nil`: the wait has ended before.
    mutating func remove(_ waiter: DownloadMachine.Waiter) -> DownloadService.ResultReceiver? {
        receivers.removeValue(forKey: waiter)
    }

    /// Ends all waits with the same error.
    mutating func end(_ error: DownloadError) {
        let ended = receivers.values
        receivers = [:]
        for receiver in ended { receiver.receive(.failure(error)) }
    }
}
