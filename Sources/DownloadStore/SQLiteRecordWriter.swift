package import DownloadCore
internal import DownloadFiles

/// Keeps records in the SQLite database of a data directory. A commit is durable once the one sync of its log returns.
package final class SQLiteRecordWriter: RecordWriter {
    private var writer: SQLiteStatements?
    /// Must outlive the connection.
    private var reserve: RecordReserve?
    /// Keeps the directory locked until the connection is closed.
    private var directory: DataDirectory?

    /// Opens the records of a data directory, and migrates them to the schema of this release.
    /// - Parameter maximumPages: The maximum number of pages of the file; `nil` for no limit. Tests use it to simulate
    ///   a small disk.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, or an error of SQLite.
    init(_ directory: DataDirectory, maximumPages: Int? = nil) throws(StoreError) {
        let capacity = directory.capacity()
        let connection = try directory.openRecords().connection
        writer = try StoreError.translating {
            if let maximumPages { _ = try connection.number("PRAGMA max_page_count = \(maximumPages)") }
            try connection.execute("PRAGMA wal_autocheckpoint = \(RecordReserve.checkpointPages(capacity: capacity))")
            // A service that stops does not wait for another program. The committer tries again.
            connection.setPatience(milliseconds: 500)
            return try SQLiteStatements(connection)
        }
        // The log exists only once the connection has made it. Nothing may fail after this, because the reserve must be
        // released last.
        reserve = RecordReserve(DataDirectory.databaseName, in: directory.top, capacity: capacity)
        self.directory = directory
    }

    package func load() throws(StoreError) -> StoredContents {
        let writer = try open()
        guard let directory else { return try writer.load() }
        return try writer.load { try directory.openDatabase() }
    }

    package var dialect: StoreDialect { StoreDialect() }

    package func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (SQLiteStatement) throws -> Void
    ) throws(StoreError) {
        try use { writer throws(StoreError) in try writer.rows(name, sql, parameters, each) }
    }

    package func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        try use { writer throws(StoreError) in
            do throws(StoreError) {
                try writer.commit(changes)
            } catch {
                // The log cannot grow. If the file has room for its pages, the log can start anew.
                guard error == .full, writer.emptyLog() else { throw error }
                try writer.commit(changes)
            }
        }
    }

    package var longestSilence: Duration? { nil }

    package func tidy() -> Bool {
        (try? use { writer throws(StoreError) in try writer.tidy() }) ?? false
    }

    package func reserveRoom() -> Bool {
        reserve?.refill() ?? true
    }

    package func close() {
        // Closing the last connection moves the log into the file and removes it.
        writer = nil
        reserve?.keepForNextStart()
        reserve = nil
        directory?.release()
        directory = nil
    }

    private func open() throws(StoreError) -> SQLiteStatements {
        guard let writer else { throw .closed }
        return writer
    }

    /// Runs the body. SQLite takes a file system that has died for a damaged file.
    private func use<Value>(_ body: (SQLiteStatements) throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try body(open())
        } catch {
            switch error {
            case .damaged, .refused:
                guard let failure = directory?.recordsFailure() else { throw error }
                throw .inputOutput("\(failure)")
            default: throw error
            }
        }
    }
}
