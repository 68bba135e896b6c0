/// Keeps records in the SQLite database of a data directory. A commit is durable when the one sync of its log returns.
final class SQLiteRecordWriter: RecordWriter {
    private var writer: StoreWriter?
    /// Outlasts the connection.
    private var reserve: RecordReserve?
    /// Held so that the directory's lock outlasts the connection.
    private var directory: DataDirectory?

    /// Opens the records of a data directory, and brings them to this release's shape.
    /// - Parameter maximumPages: the most pages the file may have; `nil`: no limit. Tests make a small disk of it.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, and what SQLite has to say.
    init(_ directory: DataDirectory, maximumPages: Int? = nil) throws(StoreError) {
        try directory.prepareDatabaseFile()
        let capacity = directory.capacity()
        writer = try StoreError.translating {
            let connection = try directory.openDatabase()
            try StoreSchema.prepare(connection, path: directory.databasePath, in: directory.top)
            if let maximumPages { _ = try connection.number("PRAGMA max_page_count = \(maximumPages)") }
            try connection.execute("PRAGMA wal_autocheckpoint = \(RecordReserve.checkpointPages(capacity: capacity))")
            // A service that stops does not wait for another program. The committer tries again.
            connection.setPatience(milliseconds: 500)
            return try StoreWriter(connection)
        }
        // Not before the connection has made the log; and nothing may fail from here on, for the reserve has to go last.
        reserve = RecordReserve(DataDirectory.databaseName, in: directory.top, capacity: capacity)
        self.directory = directory
    }

    func load() throws(StoreError) -> StoredContents {
        try open().load()
    }

    func records(_ ids: [DownloadID]) throws(StoreError) -> [DownloadRecord] {
        try open().records(ids)
    }

    func deliveries(from id: DownloadID, if isWanted: (String) -> Bool) throws(StoreError) -> DeliveryPage {
        try open().deliveries(from: id, if: isWanted)
    }

    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        let writer = try open()
        do throws(StoreError) {
            try writer.commit(changes)
        } catch {
            // The log cannot grow: what it holds may have room in the file, and then it begins anew.
            guard error == .full, writer.emptyLog() else { throw error }
            try writer.commit(changes)
        }
    }

    var longestSilence: Duration? { nil }

    func reserveRoom() -> Bool {
        reserve?.refill() ?? true
    }

    func close() {
        // Closing the last connection moves the log into the file and removes it.
        writer = nil
        reserve?.keepForNextStart()
        reserve = nil
        directory?.release()
        directory = nil
    }

    private func open() throws(StoreError) -> StoreWriter {
        guard let writer else { throw .closed }
        return writer
    }
}
