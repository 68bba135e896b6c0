import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(3)))
struct StoreSchemaTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/test.sqlite" }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    @Test("A new file goes through every migration, and is marked as Pawl's")
    func newFileIsMigratedAndMarked() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version))
        #expect(try connection.number("PRAGMA application_id") == 0x5061_776C)
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        #expect(try connection.number("PRAGMA synchronous") == 2)
    }

    @Test("An older file gets only its missing migrations, and keeps its rows")
    func olderFileGetsMissingMigrations() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        try connection.execute("INSERT INTO settings VALUES ('kept', 'yes')")
        let added = ["ALTER TABLE settings ADD COLUMN note TEXT", "UPDATE settings SET note = 'new'"]
        for _ in 1...2 { try StoreSchema.prepare(connection, path: path, migrations: StoreSchema.migrations + [added]) }
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version + 1))
        #expect(try connection.text("SELECT value || note FROM settings") == "yesnew")
    }

    @Test("A failed migration changes nothing")
    func failedMigrationChangesNothing() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        let broken = ["CREATE TABLE half (a)", "ALTER TABLE nowhere ADD COLUMN note TEXT"]
        #expect(throws: StoreError.self) {
            try StoreSchema.prepare(connection, path: path, migrations: StoreSchema.migrations + [broken])
        }
        #expect(try connection.number("PRAGMA user_version") == Int64(StoreSchema.version))
        #expect(try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
    }

    @Test("Refuses a file of a newer release, and does not change it")
    func newerFileIsRefused() throws {
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        try connection.execute("PRAGMA user_version = 99")
        #expect(throws: StoreError.newerSchema(path: path, found: 99, supported: StoreSchema.version)) {
            try StoreSchema.prepare(connection, path: path)
        }
        #expect(try connection.number("PRAGMA user_version") == 99)
        #expect(
            StoreError.newerSchema(path: "p", found: 99, supported: 1).description
                == "p was written by a newer release (schema 99, this one knows up to 1)")
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
