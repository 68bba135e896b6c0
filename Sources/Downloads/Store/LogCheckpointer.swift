import Threading

/// Moves what has been committed from SQLite's log into its file, on a thread of its own: while the store's thread did so, everybody
/// who waited for a commit waited a tenth of a second longer, several times a second under load.
///
/// Nothing depends on it. What it does not get to, or fails at, stays in the log, which the next start reads; and the writer, whose log may
/// not grow without end, does the same itself where this falls behind. A passive checkpoint holds up no writer:
/// https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
final class LogCheckpointer: Sendable {
    private struct Backlog {
        /// Changes committed since the last checkpoint began.
        var changes = 0
        var isStopping = false
    }

    /// How many changes are worth one: about half a megabyte of them.
    private static let worthwhile = 2_000

    private let path: String
    private let backlog = Monitor(Backlog())
    private let hasEnded = Monitor(false)

    /// Starts the thread.
    /// - Parameter path: the database, which is there and has its log.
    init(path: String) throws(ThreadError) {
        self.path = path
        try Thread.start(name: "pawl checkpoint") { [self] in
            run()
            hasEnded.withLock { hasEnded in
                hasEnded = true
                return ((), wake: true)
            }
        }
    }

    /// Notes that so many changes have been committed.
    func committed(_ count: Int) {
        backlog.withLock { backlog in
            backlog.changes += count
            return ((), wake: backlog.changes >= Self.worthwhile)
        }
    }

    /// Returns when the thread has closed its connection: the last one to close removes the log.
    func stop() {
        backlog.withLock { backlog in
            backlog.isStopping = true
            return ((), wake: true)
        }
        hasEnded.wait { $0 ? .done(()) : .wait(nil) }
    }

    private func run() {
        guard let connection = try? SQLiteConnection(path: path),
            (try? connection.execute("PRAGMA synchronous = FULL")) != nil
        else { return }
        while waitForWork() { try? connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
    }

    /// Returns whether there is any; otherwise it is over.
    private func waitForWork() -> Bool {
        backlog.wait { backlog in
            if backlog.isStopping { return .done(false) }
            guard backlog.changes >= Self.worthwhile else { return .wait(nil) }
            backlog.changes = 0
            return .done(true)
        }
    }
}
