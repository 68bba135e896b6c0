import System

/// Keeps records in a database. One thread of its own takes everything that has been queued, writes it in one transaction, and
/// lets all who waited for it go on: a hundred writers share one sync of the disk.
///
/// Whoever asks for something new to be kept first looks whether the store is congested: what has been accepted has to be
/// written, and so only the coming of more can be bounded. A transaction is bounded.
final class GroupCommitStore: RecordStore {
    private let committer: GroupCommitter

    /// Starts the thread.
    /// - Throws: `StoreError.unavailable`.
    init(_ writer: sending any RecordWriter, options: GroupCommitter.Options = GroupCommitter.Options()) throws(StoreError) {
        let committer = GroupCommitter(writer, options: options)
        self.committer = committer
        do throws(SystemError) {
            try Thread.start(name: "pawl store") { committer.run() }
        } catch {
            throw .unavailable(path: "the store", reason: "no thread can be started: \(error)")
        }
    }

    /// Opens the records of a data directory.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, and what SQLite has to say.
    convenience init(
        _ directory: DataDirectory, options: GroupCommitter.Options = GroupCommitter.Options()
    ) throws(StoreError) {
        try self.init(SQLiteRecordWriter(directory), options: options)
    }

    deinit {
        committer.stop(nil)
    }

    func load() throws(StoreError) -> StoredContents {
        try committer.load()
    }

    func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord] {
        let result = await withCheckedContinuation { committer.read(ids, $0) }
        return try result.get()
    }

    func submit(_ changes: [StoreChange]) -> StoreCommit {
        if changes.isEmpty { return .nothing }
        let commit = StoreCommit()
        committer.enqueue(changes, commit)
        return commit
    }

    var isCongested: Bool { committer.isCongested }

    func note(_ progress: StoredProgress) {
        committer.note(progress)
    }

    func close() async {
        await withCheckedContinuation { committer.stop($0) }
    }
}
