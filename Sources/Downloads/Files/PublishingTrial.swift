internal import System

/// Finds out whether files can be published, by trying it with a file that is removed again: once a second at most, however often it is
/// asked for.
final class PublishingTrial: Sendable {
    /// How long an answer is good for.
    static let freshness: Duration = .seconds(1)
    /// How long a trial may take. One that takes longer goes on, and none is begun besides.
    static let limit: Duration = .seconds(2)

    private struct State {
        var isRunning = false
        var failure: FileError?
        var triedAt: ContinuousClock.Instant?
    }

    private let depot: any FileDepot
    private let changed: @Sendable (FileError?) -> Void
    private let state = Locked(State())

    /// - Parameter changed: told of each change: why files can't be published, or `nil` that they can.
    init(_ depot: any FileDepot, changed: @escaping @Sendable (FileError?) -> Void) {
        self.depot = depot
        self.changed = changed
    }

    /// Tries it among the finished files themselves. For the start: later on, other programs that watch them would see it.
    func begin() async { await run(isHidden: false) }

    /// Why files can't be published; `nil` if they can.
    func failure() async -> FileError? {
        let begins = state.withLock { state in
            let isFresh = state.triedAt.map { ContinuousClock.now - $0 < Self.freshness } ?? false
            return !isFresh && !state.isRunning
        }
        if begins { await run(isHidden: true) }
        return state.withLock { $0.failure }
    }

    private func run(isHidden: Bool) async {
        state.withLock { $0.isRunning = true }
        let done = StoreCommit()
        let limit = Task {
            try await Task.sleep(for: Self.limit)
            self.note(FileError(.other, "no answer from the disk of the downloads directory within \(Self.limit)"))
            done.conclude(.success(()))
        }
        BlockingExecutor.disk.submit { [depot] in
            var failure: FileError?
            do throws(FileError) { try depot.tryPublishing(isHidden: isHidden) } catch { failure = error }
            self.note(failure)
            self.state.withLock { $0.isRunning = false }
            done.conclude(.success(()))
        }
        _ = try? await done.wait()
        limit.cancel()
    }

    private func note(_ failure: FileError?) {
        let isNews = state.withLock { state in
            defer {
                state.failure = failure
                state.triedAt = .now
            }
            // Another reason is no news.
            return (state.failure == nil) != (failure == nil)
        }
        if isNews { changed(failure) }
    }
}
