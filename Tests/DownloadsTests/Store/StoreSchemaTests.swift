import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

@Suite(.timeLimit(.minutes(3)))
struct StoreSchemaTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/test.sqlite" }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test("A new file has the schema of this release, and the mark of Pawl")
    func newFile() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version))
        #expect(try connection.number("PRAGMA application_id") == 0x5061_776C)
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        #expect(try connection.number("PRAGMA synchronous") == 2)
        #expect(try connection.number("PRAGMA auto_vacuum") == 2)
    }

    @Test("The versions of both databases are numbered without gaps")
    func numbers() {
        for (files, first) in [(SchemaFile.sqlite, 105), (SchemaFile.fleet, 104)] {
            #expect(files.map(\.version) == Array(first..<first + files.count))
            #expect(files.allSatisfy { $0.sql.contains("TABLE") || $0.sql.contains("INDEX") })
        }
    }

    @Test("A second version adds a column once, and keeps the rows")
    func addedColumn() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        let records = [fullRecord(1), sampleRecord(2)]
        try SQLiteStatements(connection).commit(records.map(StoreChange.save))
        let next = SchemaFile(
            StoreSchema.version + 1,
            """
            -- A column, and its value for existing rows.
            ALTER TABLE downloads ADD COLUMN note TEXT;
            UPDATE downloads SET note = 'old; row';
            """)
        for _ in 1...2 { try StoreSchema.prepare(connection, path: path, files: SchemaFile.sqlite + [next]) }
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version + 1))
        #expect(try connection.number("SELECT count(*) FROM downloads WHERE note = 'old; row'") == 2)
        let writer = try SQLiteStatements(connection)
        try writer.commit([.save(sampleRecord(3))])
        #expect(try writer.load().records.map(portrait) == (records + [sampleRecord(3)]).map(portrait))
    }

    @Test("A failed migration changes nothing")
    func failedMigrationChangesNothing() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        let broken = SchemaFile(
            StoreSchema.version + 1, "CREATE TABLE half (a); ALTER TABLE nowhere ADD COLUMN note TEXT")
        #expect(throws: StoreError.self) {
            try StoreSchema.prepare(connection, path: path, files: SchemaFile.sqlite + [broken])
        }
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version))
        #expect(try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
    }

    /// The error for the directory of an unreleased build.
    private func refusal(of directory: String) -> String {
        "\(directory) has records of an unreleased build of Pawl, which this release cannot read: "
            + "keep its finished files elsewhere, and begin with an empty directory"
    }

    @Test(
        "Service, check and restored backup refuse records of an unreleased build in one line", arguments: [1, 99, 104])
    func unreleasedRecords(_ version: Int) async throws {
        let data = temporary.path + "/data"
        try FileManager.default.createDirectory(atPath: data + "/files", withIntermediateDirectories: true)
        do {
            let connection = try SQLiteConnection(path: data + "/pawl.sqlite")
            try connection.execute("CREATE TABLE downloads (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID")
            try connection.execute("PRAGMA application_id = \(StoreSchema.applicationID)")
            try connection.execute("PRAGMA user_version = \(version)")
        }
        let restored = temporary.path + "/restored"
        try FileManager.default.createDirectory(atPath: restored + "/files", withIntermediateDirectories: true)
        try RecordBackup.write(of: data, to: restored + "/pawl.sqlite")
        let client = try HTTPClient(configuration: ClientConfiguration())
        for directory in [data, restored] {
            let line = refusal(of: directory)
            let checked = #expect(throws: DownloadsStartError.self) { try DirectoryCheck(path: directory) }
            #expect(checked?.description == line)
            let configuration = DownloadsConfiguration(
                dataDirectory: directory, destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
            let started = await #expect(throws: DownloadsStartError.self) {
                try await DownloadService(configuration: configuration, client: client) { _ in }
            }
            #expect(started?.description == line)
            let connection = try SQLiteConnection(path: directory + "/pawl.sqlite")
            #expect(try connection.number("PRAGMA user_version") == Int64(version))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains(".v") } == [])
        }
    }

    @Test("Refuses a file of a newer release, and does not change it")
    func newerFileIsRefused() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        try connection.execute("PRAGMA user_version = 199")
        #expect(throws: StoreError.newerSchema(path: path, found: 199, supported: StoreSchema.version)) {
            try StoreSchema.prepare(connection, path: path)
        }
        #expect(try connection.number("PRAGMA user_version") == 199)
        #expect(
            StoreError.newerSchema(path: "p", found: 199, supported: 105).description
                == "p was written by a newer release (schema 199, this one knows up to 105)")
    }

    @Test(
        "Refuses a database of another program",
        arguments: ["CREATE TABLE theirs (a)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"])
    func foreignDatabaseIsRefused(_ statement: String) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.execute(statement)
        #expect(throws: StoreError.foreign(path: path)) { try StoreSchema.prepare(connection, path: path) }
    }

    @Test("Reports a file that is no database as damaged")
    func noDatabaseIsDamaged() throws {
        let scene = try StoreScene()
        try FileManager.default.createDirectory(atPath: scene.path, withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8_192).write(to: URL(filePath: scene.path + "/pawl.sqlite"))
        #expect(throws: StoreError.damaged("file is not a database")) { try scene.open() }
    }

    @Test(
        "Reports a column with a value that was never written there",
        arguments: [
            ("state = 'unheard-of'", "state"), ("labels = '[1]'", "labels"), ("headers = '{'", "headers"),
            ("checksum = 'md4:00'", "checksum"), ("synced_segments = '[[0]]'", "synced_segments"),
            ("error_code = 'bad'", "error_code"), ("file_identity = '1:2'", "file_identity"),
            ("filename = '../pawl.sqlite'", "filename"), ("filename = '/etc/passwd'", "filename"), ("filename = '.'", "filename"),
            ("filename = ''", "filename"), ("filename = 'a' || char(10)", "filename"),
            ("arrival = '1'", "arrival"), ("folder = '..'", "folder"), ("folder = '/etc'", "folder"),
            ("folder = 'a//b'", "folder"),
            ("folder = 'a/'", "folder"),
            ("folder = 'a/../b'", "folder"), ("folder = '1/2/3/4/5/6/7/8/9'", "folder"), ("folder = 'a' || char(10)", "folder"),
        ])
    func badColumnIsReported(_ change: String, _ column: String) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.save(fullRecord())
        await store.close()
        do {
            let connection = try SQLiteConnection(path: scene.path + "/pawl.sqlite")
            try connection.execute("UPDATE downloads SET \(change)")
        }
        let reopened = try scene.open()
        let contents = try reopened.load()
        #expect(contents.records.isEmpty)
        #expect(contents.refused.map(\.reason) == ["download \(fullRecord().id) has no valid \(column)"])
        #expect(contents.refused.map(\.id) == [fullRecord().id])
        await reopened.close()
    }
}
