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
        try await perform(ids) { writer throws(StoreError) in try writer.records(ids) }
    }

    func deliveries(
        from id: DownloadID, if isWanted: @escaping @Sendable (String) -> Bool
    ) async throws(StoreError) -> DeliveryPage {
        try await perform { writer throws(StoreError) in try writer.deliveries(from: id, if: isWanted) }
    }

    /// Runs the body on the store's thread, behind the writes that were submitted before.
    /// - Parameter ids: the downloads whose noted progress is written first.
    func perform<Value: Sendable>(
        _ ids: [DownloadID] = [], _ body: @escaping @Sendable (any RecordWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            committer.perform(ids) { writer in
                guard let writer else { return continuation.resume(returning: .failure(.closed)) }
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body(writer)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// The same without waiting for it; nothing is passed in once the store is closed.
    /// - Parameters:
    ///   - ids: the downloads whose noted progress is written first.
    ///   - body: gets the writer.
    func begin(_ ids: [DownloadID] = [], _ body: @escaping @Sendable ((any RecordWriter)?) -> Void) {
        committer.perform(ids, body)
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
