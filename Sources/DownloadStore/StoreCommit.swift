package import DownloadCore
internal import System

/// The pending commit of changes. A caller waits for it before it confirms the changes.
package final class StoreCommit: Sendable {
    /// A commit without changes, which has succeeded.
    package static let nothing: StoreCommit = {
        let commit = StoreCommit()
        commit.conclude(.success(()))
        return commit
    }()

    private struct State {
        var outcome: Result<Void, StoreError>?
        var waiters: [@Sendable (StoreError?) -> Void] = []
    }

    private let state = Locked(State())

    /// Creates a commit whose outcome is not known yet.
    package init() {}

    /// Returns once the changes are durable.
    package func wait() async throws(StoreError) {
        if let error = await failure() { throw error }
    }

    /// Returns the reason that the changes could not be made durable; `nil` once they are durable.
    package func failure() async -> StoreError? {
        await withCheckedContinuation { waiter in whenDone { waiter.resume(returning: $0) } }
    }

    /// Waits at most `limit` for the outcome. Returns the same as ``failure()``, or `.interrupted` if the outcome is
    /// not known by then.
    package func failure(within limit: Duration) async -> StoreError? {
        await withCheckedContinuation { continuation in
            let waiter = Locked<CheckedContinuation<StoreError?, Never>?>(continuation)
            let timer = Task {
                try await Task.sleep(for: limit)
                waiter.withLock { $0.take() }?.resume(returning: .interrupted("it does not answer in time"))
            }
            whenDone { error in
                timer.cancel()
                waiter.withLock { $0.take() }?.resume(returning: error)
            }
        }
    }

    /// Calls the body with `nil` once the changes are durable, or with the error if they cannot be made durable. It is
    /// called on the store's thread, or immediately if the outcome is known. It must not block.
    package func whenDone(_ body: @escaping @Sendable (StoreError?) -> Void) {
        let known = state.withLock { state in
            if state.outcome == nil { state.waiters.append(body) }
            return state.outcome
        }
        if let known { body(known.error) }
    }

    /// Sets the outcome. Only the first call has an effect.
    package func conclude(_ outcome: Result<Void, StoreError>) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [@Sendable (StoreError?) -> Void]() }
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(outcome.error) }
    }
}

extension Result where Success == Void, Failure == StoreError {
    fileprivate var error: StoreError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
