internal import DownloadCore
internal import System

/// Reads all records of a SQLite database, in order of creation.
///
/// Decoding a million rows takes seconds. A second thread therefore reads the younger half over a connection of its own.
struct RecordReader {
    /// Opens another connection to the same database.
    typealias Opening = @Sendable () throws -> SQLiteConnection

    /// The number of records from which two threads read.
    private static let parallelCount: Int64 = 5_000

    let connection: SQLiteConnection

    /// Reads the records, and notes the rows that cannot be decoded.
    /// - Parameter open: Opens the connection of the second thread; `nil` to read everything on this one.
    func read(beside open: Opening?) throws -> StoredContents {
        let count = try connection.number("SELECT count(*) FROM downloads")
        guard count >= Self.parallelCount, let open, let middle = try middle(of: count) else {
            return try read(.all, capacity: count)
        }
        let younger = SideComputation(name: "pawl records") {
            let connection = try? open()
            return connection.map { second in
                Result { try RecordReader(connection: second).read(.from(middle), capacity: count / 2) }
            }
        }
        let older = Result { try read(.below(middle), capacity: count / 2) }
        // Without a second connection, the first one reads the younger half as well.
        let rest = try younger.value()?.get() ?? read(.from(middle), capacity: count / 2)
        var contents = try older.get()
        contents.recordParts += rest.recordParts
        contents.refused += rest.refused
        contents.events.newest = max(contents.events.newest, rest.events.newest)
        return contents
    }

    /// The rows to read, by their ids.
    private enum Part {
        case all
        case below(String)
        case from(String)
    }

    private func middle(of count: Int64) throws(SQLiteError) -> String? {
        try connection.text("SELECT id FROM downloads ORDER BY id LIMIT 1 OFFSET \(count / 2)")
    }

    private func read(_ part: Part, capacity: Int64) throws -> StoredContents {
        var contents = StoredContents()
        var records: [DownloadRecord] = []
        records.reserveCapacity(Int(clamping: capacity))
        let validity = try connection.prepare("SELECT json_valid(CAST(?1 AS TEXT))")
        var reader = DownloadRow.Reader()
        let rows: SQLiteStatement
        switch part {
        case .all: rows = try connection.prepare(DownloadRow.loadStatement)
        case .below(let id):
            rows = try connection.prepare(DownloadRow.loadOlderStatement)
            try rows.bind(1, id)
        case .from(let id):
            rows = try connection.prepare(DownloadRow.loadYoungerStatement)
            try rows.bind(1, id)
        }
        while try rows.step() {
            try contents.reading(.downloads, rows.key(0)) { contents throws(StoreError) in
                let record = try reader.record(from: rows)
                try checkTrack(of: record, validity)
                contents.events.newest = max(contents.events.newest, record.download.changeID)
                records.append(record)
            }
        }
        contents.recordParts = [records]
        return contents
    }

    /// Refuses a record whose track is not JSON text. SQLite validates it in a fraction of the time of ``JSONValue``.
    /// - Parameter validity: A statement that returns whether its parameter is JSON.
    private func checkTrack(of record: DownloadRecord, _ validity: SQLiteStatement) throws(StoreError) {
        guard let track = record.download.track else { return }
        let isValid = try StoreError.translating {
            try validity.bind(1, track)
            defer { validity.reset() }
            return try validity.step() && validity.integer(0) == 1
        }
        if !isValid { throw .damaged("download \(record.id) has no valid track") }
    }
}
