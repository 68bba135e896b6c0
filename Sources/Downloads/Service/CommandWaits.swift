internal import DownloadCore

/// The waits of commands for their results.
struct CommandWaits {
    private var askers: [DownloadMachine.Waiter: DownloadService.Asker] = [:]
    private var last: DownloadMachine.Waiter = 0

    var count: Int { askers.count }

    /// Adds a wait.
    /// - Parameter asker: The receiver of the result.
    mutating func add(_ asker: DownloadService.Asker) -> DownloadMachine.Waiter {
        last += 1
        askers[last] = asker
        return last
    }

    func contains(_ waiter: DownloadMachine.Waiter) -> Bool { askers[waiter] != nil }

    /// Removes a wait.
    /// - Returns: The receiver of the result; `nil`: the wait has ended before.
    mutating func remove(_ waiter: DownloadMachine.Waiter) -> DownloadService.Asker? { askers.removeValue(forKey: waiter) }

    /// Ends all waits with the same error.
    mutating func end(_ error: DownloadError) {
        let ended = askers.values
        askers = [:]
        for asker in ended { asker.receive(.failure(error)) }
    }
}
