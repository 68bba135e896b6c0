internal import System

/// Changes on their way to the disk. Whoever has promised something waits here before saying so.
final class StoreCommit: Sendable {
    /// What there was nothing to do for.
    static let nothing: StoreCommit = {
        let commit = StoreCommit()
        commit.conclude(.success(()))
        return commit
    }()

    private struct State {
        var outcome: Result<Void, StoreError>?
        var waiters: [@Sendable (StoreError?) -> Void] = []
    }

    private let state = Locked(State())

    /// Returns when the changes are durable.
    func wait() async throws(StoreError) {
        if let error = await failure() { throw error }
    }

    /// Why the changes could not be made durable; `nil` once they are.
    func failure() async -> StoreError? {
        await withCheckedContinuation { waiter in whenDone { waiter.resume(returning: $0) } }
    }

    /// The same, but no longer than this: then it is not known yet whether they can be made durable.
    func failure(within limit: Duration) async -> StoreError? {
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

    /// Calls the body once the changes are durable, with `nil`, or cannot be made so, with the reason: on the store's thread, or at once if
    /// that is known already. It must not block.
    func whenDone(_ body: @escaping @Sendable (StoreError?) -> Void) {
        let known = state.withLock { state in
            if state.outcome == nil { state.waiters.append(body) }
            return state.outcome
        }
        if let known { body(known.error) }
    }

    /// Says how it went; only the first word counts.
    func conclude(_ outcome: Result<Void, StoreError>) {
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
