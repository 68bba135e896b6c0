internal import DownloadCore
internal import System

/// Waits of requests, each with a deadline.
extension DownloadService {
    /// Adds a wait. The receiver gets `unconfirmed` at the deadline.
    /// - Returns: The number of the wait, which ``answer(_:_:)`` ends.
    func wait(
        by deadline: ContinuousClock.Instant? = nil, for receiver: @escaping RequestWaits.Receiver
    ) -> DownloadMachine.Waiter {
        let deadline = deadline ?? .now + Self.answerLimit
        let wait = runner.waits.add(by: deadline, for: receiver)
        if wait.isFirst { timers.set(.waitLimit, at: deadline) }
        return wait.number
    }

    /// Whether a wait has not ended.
    func isAwaited(_ waiter: DownloadMachine.Waiter) -> Bool { runner.waits.contains(waiter) }

    func answer(_ waiter: DownloadMachine.Waiter, _ result: Result<Download, DownloadError>) {
        runner.waits.remove(waiter)?(result)
    }

    /// Ends the waits whose deadlines have passed.
    /// - Parameter now: The time; `nil`: all waits end.
    func endWaits(now: ContinuousClock.Instant? = nil, with error: DownloadError = .unconfirmed) {
        for receive in runner.waits.takeExpired(now: now) { receive(.failure(error)) }
        if let next = runner.waits.next { timers.set(.waitLimit, at: next) }
    }

    /// Waits for a result until a deadline.
    /// - Parameter begin: Begins the work. Its argument receives the result.
    /// - Returns: The result; `nil` if there is none in time.
    func result<Value: Sendable>(
        by deadline: ContinuousClock.Instant, _ begin: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        let outcome = Outcome<Value?>()
        let waiter = wait(by: deadline) { _ in outcome.set(nil) }
        begin { outcome.set($0) }
        let value = await outcome.value()
        runner.waits.remove(waiter)
        return value
    }

    /// Waits for another request.
    /// - Throws: `overloaded` if that takes too long, or if the other request has waited for the store in vain.
    func follow(_ request: RequestEnd, by deadline: ContinuousClock.Instant) async throws(DownloadError) {
        guard let failure: DownloadError? = await result(by: deadline, request.whenDone) else { throw .overloaded }
        if let failure { throw failure }
    }
}
