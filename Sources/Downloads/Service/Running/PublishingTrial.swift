internal import DownloadCore
internal import DownloadFiles
internal import DownloadStore
internal import System

/// Tests whether files can be published, by publishing a file that is then removed. The test runs at most once a
/// second, however often it is requested.
///
/// The first trial uses the directory of finished files itself. After one has succeeded there, later trials are hidden,
/// because programs that watch finished files would see them.
final class PublishingTrial: Sendable {
    /// The time for which a result is valid.
    static let freshness: Duration = .seconds(1)
    /// The maximum duration of a trial. A longer one continues, and no other begins before its end.
    static let limit: Duration = .seconds(2)

    private struct State {
        var isRunning = false
        /// Whether a trial among finished files has succeeded.
        var isProven = false
        var failure: FileError?
        var triedAt: ContinuousClock.Instant?
    }

    private let finishedFiles: any FinishedFiles
    private let patience: Duration
    private let changed: @Sendable (FileError?) -> Void
    private let state = Locked(State())

    /// Creates a trial.
    /// - Parameters:
    ///   - patience: The time for which a failure among finished files is valid.
    ///   - changed: Called after each change with the reason that files cannot be published, or `nil` if they can.
    init(
        _ finishedFiles: any FinishedFiles, patience: Duration = .seconds(5),
        changed: @escaping @Sendable (FileError?) -> Void
    ) {
        self.finishedFiles = finishedFiles
        self.patience = patience
        self.changed = changed
    }

    /// Tests directories that have just been opened.
    func begin() async {
        state.withLock { ($0.isProven, $0.triedAt) = (false, nil) }
        await run()
    }

    /// Returns the reason that files cannot be published; `nil` if they can.
    func failure() async -> FileError? {
        await run()
        return state.withLock { $0.failure }
    }

    /// Runs a trial unless the last result is still valid, or a trial is in progress.
    private func run() async {
        let isHidden: Bool? = state.withLock { state in
            let limit = state.isProven ? Self.freshness : patience
            let isFresh = state.triedAt.map { ContinuousClock.now - $0 < limit } ?? false
            if isFresh || state.isRunning { return nil }
            state.isRunning = true
            return state.isProven
        }
        guard let isHidden else { return }
        let hasEnded = Outcome<Bool>()
        BlockingExecutor.disk.submit { [finishedFiles] in
            var failure: FileError?
            do throws(FileError) { try finishedFiles.tryPublishing(isHidden: isHidden) } catch { failure = error }
            // Without descriptors, nothing is known about the disk.
            let isResult = failure?.kind != .transient
            if isResult { self.note(failure) }
            self.state.withLock { state in
                state.isRunning = false
                if isResult, !isHidden { state.isProven = failure == nil }
            }
            hasEnded.set(true)
        }
        if await hasEnded.value(within: Self.limit, orSetting: false) { return }
        note(FileError(.other, "no answer from the disk of the downloads directory within \(Self.limit)"))
    }

    private func note(_ failure: FileError?) {
        let isNews = state.withLock { state in
            defer {
                state.failure = failure
                state.triedAt = .now
            }
            // A different reason for a failure is not reported.
            return (state.failure == nil) != (failure == nil)
        }
        if isNews { changed(failure) }
    }
}
