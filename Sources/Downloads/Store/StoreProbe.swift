internal import System

/// Finds out whether a store takes writes, by a tiny one that waits for the disk as every other does.
///
/// However often it is asked, it writes once in ``freshness`` at most, and never while an earlier write of its own is still
/// waiting: a disk that hangs gathers no backlog.
final class StoreProbe: Sendable {
    /// How long an answer is good for.
    static let freshness: Duration = .seconds(1)

    private struct State {
        /// The write that waits for the disk.
        var commit: StoreCommit?
        /// What is known, and since when.
        var known: (reason: String?, at: ContinuousClock.Instant)?
    }

    private let store: any RecordStore
    private let limit: Duration
    private let state = Locked(State())

    /// - Parameters:
    ///   - store: what is asked.
    ///   - limit: how long a write may take.
    init(_ store: any RecordStore, limit: Duration = .seconds(2)) {
        self.store = store
        self.limit = limit
    }

    /// Why the store takes no writes; `nil` if it does.
    func complaint() async -> String? {
        let now = ContinuousClock.now
        let known = state.withLock { state in
            state.known.flatMap { now - $0.at < Self.freshness ? $0 : nil }
        }
        if let known { return known.reason }
        let commit = write()
        let verdict = StoreCommit()
        let timer = Task { [limit] in
            try await Task.sleep(for: limit)
            verdict.conclude(.failure(.inputOutput("no answer from the disk within \(limit)")))
        }
        defer { timer.cancel() }
        Task {
            do throws(StoreError) {
                try await commit.wait()
                verdict.conclude(.success(()))
            } catch {
                verdict.conclude(.failure(error))
            }
            self.state.withLock { if $0.commit === commit { $0.commit = nil } }
        }
        do throws(StoreError) {
            try await verdict.wait()
            return note(nil)
        } catch {
            return note(error.description)
        }
    }

    /// The write under way, or a new one.
    private func write() -> StoreCommit {
        state.withLock { state in
            if let commit = state.commit { return commit }
            let commit = store.submit([.probe])
            state.commit = commit
            return commit
        }
    }

    private func note(_ reason: String?) -> String? {
        state.withLock { $0.known = (reason, .now) }
        return reason
    }
}
