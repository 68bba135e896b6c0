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
        var waiters: [CheckedContinuation<Result<Void, StoreError>, Never>] = []
    }

    private let state = Locked(State())

    /// Returns when the changes are durable.
    func wait() async throws(StoreError) {
        if let error = await failure() { throw error }
    }

    /// Why the changes could not be made durable; `nil` once they are.
    func failure() async -> StoreError? {
        let outcome = await withCheckedContinuation { waiter in
            let known = state.withLock { state -> Result<Void, StoreError>? in
                if state.outcome == nil { state.waiters.append(waiter) }
                return state.outcome
            }
            if let known { waiter.resume(returning: known) }
        }
        return if case .failure(let error) = outcome { error } else { nil }
    }

    /// Says how it went; only the first word counts.
    func conclude(_ outcome: Result<Void, StoreError>) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [CheckedContinuation<Result<Void, StoreError>, Never>]() }
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
