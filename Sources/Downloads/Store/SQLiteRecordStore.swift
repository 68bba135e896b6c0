import System

/// Keeps records in SQLite. One thread of its own takes everything that has been queued, writes it in one transaction, and
/// lets all who waited for it go on: a hundred writers share one sync of the disk.
///
/// Whoever asks for something new to be kept first looks whether the store is congested: what has been accepted has to be
/// written, and so only the coming of more can be bounded. A transaction is bounded.
final class SQLiteRecordStore: RecordStore {
    private let committer: GroupCommitter

    /// Opens the records of a data directory, brings them to this release's shape, and starts the thread.
    ///
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, and what SQLite has to say.
    init(_ directory: DataDirectory, options: GroupCommitter.Options = GroupCommitter.Options()) throws(StoreError) {
        try directory.prepareDatabaseFile()
        let path = directory.databasePath
        let committer = try StoreError.translating {
            let connection = try SQLiteConnection(path: path)
            try StoreSchema.prepare(connection, path: path)
            if let pages = options.maximumPages { _ = try connection.number("PRAGMA max_page_count = \(pages)") }
            let capacity = directory.capacity()
            try connection.execute("PRAGMA wal_autocheckpoint = \(RecordReserve.checkpointPages(capacity: capacity))")
            let writer = try StoreWriter(connection)
            // Not before the connection has made the log; and nothing may fail from here on, for the reserve has to go last.
            let reserve = RecordReserve(path: path, capacity: capacity)
            return GroupCommitter(writer, reserve: reserve, directory: directory, options: options)
        }
        self.committer = committer
        do throws(SystemError) {
            try Thread.start(name: "pawl store") { committer.run() }
        } catch {
            throw .unavailable(path: path, reason: "no thread can be started: \(error)")
        }
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
