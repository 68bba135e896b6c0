internal import System

/// Finds out whether files can be published, by trying it with a file that is removed again: once a second at most, however often it is
/// asked for.
///
/// The first trial is made among the finished files themselves. Once one has succeeded there, others are hidden: programs that watch
/// finished files would see them.
final class PublishingTrial: Sendable {
    /// How long an answer is good for.
    static let freshness: Duration = .seconds(1)
    /// How long a trial may take. One that takes longer goes on, and none is begun besides.
    static let limit: Duration = .seconds(2)

    private struct State {
        var isRunning = false
        /// Whether a trial among the finished files has succeeded.
        var isProven = false
        var failure: FileError?
        var triedAt: ContinuousClock.Instant?
    }

    private let depot: any FileDepot
    private let patience: Duration
    private let changed: @Sendable (FileError?) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - patience: how long the answer is good for that nothing can be published among the finished files.
    ///   - changed: told of each change: why files can't be published, or `nil` that they can.
    init(_ depot: any FileDepot, patience: Duration = .seconds(5), changed: @escaping @Sendable (FileError?) -> Void) {
        self.depot = depot
        self.patience = patience
        self.changed = changed
    }

    /// Tries it in directories that have just been opened.
    func begin() async {
        state.withLock { ($0.isProven, $0.triedAt) = (false, nil) }
        await run()
    }

    /// Why files can't be published; `nil` if they can.
    func failure() async -> FileError? {
        await run()
        return state.withLock { $0.failure }
    }

    /// Tries it unless the last answer is still good, or a trial is under way.
    private func run() async {
        let isHidden: Bool? = state.withLock { state in
            let limit = state.isProven ? Self.freshness : patience
            let isFresh = state.triedAt.map { ContinuousClock.now - $0 < limit } ?? false
            if isFresh || state.isRunning { return nil }
            state.isRunning = true
            return state.isProven
        }
        guard let isHidden else { return }
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
            self.state.withLock { state in
                state.isRunning = false
                if !isHidden { state.isProven = failure == nil }
            }
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
