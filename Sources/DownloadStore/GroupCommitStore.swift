package import DownloadCore
package import DownloadFiles
internal import System

/// A store on a database, with a thread of its own. The thread writes all queued changes in one transaction and then
/// resumes all callers that wait. A hundred writers share one sync of the disk.
///
/// Accepted changes must be written, so the backlog can only be limited by refusing new ones. A caller that adds
/// records first checks ``isCongested``. The size of a transaction is limited.
package final class GroupCommitStore<Writer: RecordWriter>: RecordStore {
    private let committer: GroupCommitter<Writer>

    /// Starts the thread.
    /// - Throws: `StoreError.unavailable`.
    package init(_ writer: sending Writer, options: GroupCommitOptions = GroupCommitOptions()) throws(StoreError) {
        let committer = GroupCommitter(writer, options: options)
        self.committer = committer
        do throws(SystemError) {
            try Thread.start(name: "pawl store") { committer.run() }
        } catch {
            throw .unavailable(path: "the store", reason: "no thread can be started: \(error)")
        }
    }

    deinit {
        stop()
    }

    private var backlog: Monitor<Backlog> { committer.backlog }

    package func load() throws(StoreError) -> StoredContents {
        try committer.writer.withLock { writer throws(StoreError) in try writer.load() }
    }

    package func read<Value: Sendable>(
        noting ids: [RecordID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            begin(ids) { writer in
                guard let writer else { return continuation.resume(returning: .failure(.closed)) }
                continuation.resume(
                    returning: Result { () throws(StoreError) in try StoreError.translating { try body(writer) } })
            }
        }
        return try result.get()
    }

    /// Runs the body on the store's thread, after the writes that are already submitted, without waiting for it.
    /// - Parameters:
    ///   - ids: The downloads whose noted progress is written first.
    ///   - body: Receives the writer, or `nil` if the store is closed.
    package func begin(_ ids: [RecordID] = [], _ body: @escaping @Sendable (Writer?) -> Void) {
        let isOpen = backlog.withLock { backlog in
            if backlog.isStopping { return (false, wake: false) }
            backlog.requests.append(
                QueuedRequest(ids: ids, after: backlog.queuedWrites) { [writer = committer.writer] in
                    writer.withLock { body($0) }
                })
            return (true, wake: true)
        }
        if !isOpen { body(nil) }
    }

    package func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit {
        let commit = StoreCommit()
        if changes.isEmpty {
            commit.set(nil)
            return commit
        }
        let isOpen = backlog.withLock { backlog in
            if backlog.isStopping { return (false, wake: false) }
            // A record that is saved or removed after a note supersedes the note.
            for change in changes where !backlog.notes.isEmpty {
                if let id = change.recordID { backlog.notes[id] = nil }
            }
            backlog.writes.append(QueuedWrite(changes: changes, commit: commit))
            backlog.queuedWrites += 1
            backlog.changeCount += changes.count
            let isFirstAwaited = isAwaited && !backlog.isAwaited
            if isAwaited { backlog.isAwaited = true }
            return (true, wake: backlog.writes.count == 1 || isFirstAwaited)
        }
        if !isOpen { commit.set(.closed) }
        return commit
    }

    package var isCongested: Bool {
        let congestion = committer.options.congestion
        return backlog.withLock { backlog in
            let age = backlog.begun.map { ContinuousClock.now - $0 } ?? .zero
            return (backlog.changeCount > congestion.changes || age > congestion.age, wake: false)
        }
    }

    package func note(_ progress: StoredProgress) {
        backlog.withLock { backlog in
            if backlog.isStopping { return ((), wake: false) }
            backlog.notes[progress.id] = progress
            guard backlog.notesDue == nil else { return ((), wake: false) }
            backlog.notesDue = .now + committer.options.noteDelay
            return ((), wake: backlog.writes.isEmpty)
        }
    }

    package func close() async {
        stop()
        await committer.end.value()
    }

    /// Lets the thread end once it has written what is queued.
    private func stop() {
        backlog.withLock { ($0.isStopping = true, wake: true) }
    }
}

extension GroupCommitStore where Writer == SQLiteRecordWriter {
    /// Opens the records of a data directory.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, or an error of SQLite.
    package convenience init(
        _ directory: DataDirectory, options: GroupCommitOptions = GroupCommitOptions()
    ) throws(StoreError) {
        try self.init(SQLiteRecordWriter(directory), options: options)
    }
}
