internal import DownloadCore

/// The waits of commands for their results.
struct CommandWaits {
    typealias Receiver = (Result<Download, DownloadError>) -> Void

    private var receivers: [DownloadMachine.Waiter: Receiver] = [:]
    private var last: DownloadMachine.Waiter = 0

    var count: Int { receivers.count }
    /// The number of the next wait.
    var next: DownloadMachine.Waiter { last + 1 }

    /// Adds a wait.
    /// - Parameter receiver: Receives the result.
    mutating func add(_ receiver: @escaping Receiver) -> DownloadMachine.Waiter {
        last += 1
        receivers[last] = receiver
        return last
    }

    /// Whether a wait has not ended.
    func contains(_ waiter: DownloadMachine.Waiter) -> Bool { receivers[waiter] != nil }

    /// Removes a wait.
    /// - Returns: The receiver of the result; `nil`: the wait has ended before.
    mutating func remove(_ waiter: DownloadMachine.Waiter) -> Receiver? { receivers.removeValue(forKey: waiter) }

    /// Ends all waits with the same error.
    mutating func end(_ error: DownloadError) {
        let ended = receivers.values
        receivers = [:]
        for receive in ended { receive(.failure(error)) }
    }
}
