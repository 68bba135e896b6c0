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
        committer.stop()
    }

    package func load() throws(StoreError) -> StoredContents {
        try committer.load()
    }

    package func read<Value: Sendable>(
        noting ids: [DownloadID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            committer.perform(ids) { writer in
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
    package func begin(_ ids: [DownloadID] = [], _ body: @escaping @Sendable (Writer?) -> Void) {
        committer.perform(ids, body)
    }

    package func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit {
        let commit = StoreCommit()
        if changes.isEmpty { commit.set(nil) } else { committer.enqueue(changes, commit, isAwaited: isAwaited) }
        return commit
    }

    package var isCongested: Bool { committer.isCongested }

    package func note(_ progress: StoredProgress) {
        committer.note(progress)
    }

    package func close() async {
        committer.stop()
        await committer.end.value()
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
