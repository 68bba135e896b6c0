internal import DownloadCore
internal import System

/// Waits of requests, each with a deadline.
extension DownloadService {
    /// Waits for a result until a deadline.
    /// - Parameter begin: Begins the work. Its argument receives the result.
    /// - Returns: The result; `nil` if there is none in time.
    func result<Value: Sendable>(
        by deadline: ContinuousClock.Instant, _ begin: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        var number = 0
        let value: Value? = await withCheckedContinuation { continuation in
            let waiter = Locked<CheckedContinuation<Value?, Never>?>(continuation)
            let wait = ledger.waits.add(by: deadline) { waiter.withLock { $0.take() }?.resume(returning: nil) }
            number = wait.number
            if wait.isFirst { timers.set(.waitLimit, at: deadline) }
            begin { value in waiter.withLock { $0.take() }?.resume(returning: value) }
        }
        ledger.waits.remove(number)
        return value
    }

    func endWaits(now: ContinuousClock.Instant) {
        for end in ledger.waits.takeExpired(now: now) { end() }
        if let next = ledger.waits.next { timers.set(.waitLimit, at: next) }
    }

    /// Waits for another request.
    /// - Parameter join: Adds this request to those that wait for the other one.
    /// - Throws: `overloaded` if that takes too long, or if the other request has waited for the store in vain.
    func follow(by deadline: ContinuousClock.Instant, _ join: (@escaping Followers.Resume) -> Void) async throws(DownloadError) {
        guard let failure: DownloadError? = await self.result(by: deadline, join) else { throw .overloaded }
        if let failure { throw failure }
    }
}
