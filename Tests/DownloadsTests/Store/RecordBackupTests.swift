import Foundation
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore

@Suite("Copies of the records", .timeLimit(.minutes(2)))
struct RecordBackupTests {
    private let scene: StoreScene
    private var copy: String { scene.temporary.path + "/backup.sqlite" }
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scene.temporary.path).sorted() }
    }

    init() throws {
        scene = try StoreScene()
    }

    private func restored() throws -> StoredContents {
        let path = scene.temporary.path + "/restored-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: copy, toPath: path + "/pawl.sqlite")
        return try GroupCommitStore(DataDirectory(path: path)).load()
    }

    @Test("A copy has everything durable at its start, beside a running store, and replaces the previous one")
    func besideAStore() async throws {
        let store = try scene.open()
        try await store.save(fullRecord(1))
        try RecordBackup.write(of: scene.path, to: copy)
        #expect(try restored().records.map(portrait) == [portrait(fullRecord(1))])
        try await store.save(sampleRecord(2))
        async let saved: Void = store.write((3..<200).map { .save(sampleRecord($0)) })
        try RecordBackup.write(of: scene.path, to: copy)
        try await saved
        // The group of changes is present as a whole, or not yet.
        #expect([2, 199].contains(try restored().records.count))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try names.filter { $0.hasPrefix("backup") } == ["backup.sqlite"])
        await store.close()
    }

    @Test("A copy has no free pages")
    func withoutFreePages() async throws {
        let store = try scene.open()
        try await store.write((1..<2_000).map { .save(fullRecord($0)) })
        try await store.write((2..<2_000).map { .remove(fullRecord($0).id, changeID: .none) })
        try RecordBackup.write(of: scene.path, to: copy)
        let connection = try SQLiteConnection(path: copy, creates: false)
        #expect(try connection.number("PRAGMA freelist_count") == 0 && connection.number("PRAGMA page_count") < 100)
        #expect(try connection.number("PRAGMA auto_vacuum") == 2 && connection.text("PRAGMA journal_mode") == "delete")
        #expect(try restored().records.map(portrait) == [portrait(fullRecord(1))])
        await store.close()
    }

    @Test("A failed copy leaves nothing, and keeps the previous one")
    func failures() async throws {
        let store = try scene.open()
        try await store.save(sampleRecord(1))
        await store.close()
        let records = scene.path + "/pawl.sqlite"
        func refuses(_ directory: String, _ path: String) {
            #expect(throws: DownloadsStartError.self) { try RecordBackup.write(of: directory, to: path) }
        }
        refuses(scene.path + "/nowhere", copy)
        refuses(scene.path, scene.temporary.path + "/nowhere/backup.sqlite")
        refuses(scene.path, scene.path + "/files")
        refuses(scene.path, records)
        try FileManager.default.createSymbolicLink(atPath: scene.temporary.path + "/link", withDestinationPath: records)
        refuses(scene.path, scene.temporary.path + "/link")
        #expect(try names == ["data", "link"])
        // A file that is no record file, and a damaged one.
        let other = scene.temporary.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try Data("earlier".utf8).write(to: URL(filePath: copy))
        let whole = try Data(contentsOf: URL(filePath: records))
        // The last one is copied unchanged, and found damaged afterwards.
        let damaged = whole.prefix(4096) + Data(repeating: 0xFF, count: whole.count - 4096)
        for content in [Data(), Data("no database".utf8), whole.prefix(6000), damaged] {
            try content.write(to: URL(filePath: other + "/pawl.sqlite"))
            refuses(other, copy)
        }
        #expect(try names == ["backup.sqlite", "data", "link", "other"])
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "earlier")
        #expect(try scene.open().load().records.count == 1)
    }

    @Test("Refuses a copy over the service's own files by any path; other names there are accepted")
    func serviceFiles() async throws {
        let store = try scene.open()
        try await store.save(sampleRecord(1))
        let manager = FileManager.default
        let top = scene.temporary.path
        try manager.createDirectory(atPath: scene.path + "/files/a/b", withIntermediateDirectories: true)
        try Data("finished".utf8).write(to: URL(filePath: scene.path + "/files/a/song"))
        try manager.createSymbolicLink(atPath: top + "/same", withDestinationPath: scene.path)
        try manager.createSymbolicLink(atPath: top + "/inner", withDestinationPath: scene.path + "/files/a")
        try manager.createSymbolicLink(atPath: top + "/log", withDestinationPath: scene.path + "/pawl.sqlite-wal")
        try manager.createSymbolicLink(atPath: top + "/song", withDestinationPath: scene.path + "/files/a/song")
        func contents() throws -> [String] { try manager.subpathsOfDirectory(atPath: top).sorted() }
        let before = try contents()
        let refused = [
            "data/pawl.sqlite", "data/pawl.sqlite-wal", "data/pawl.sqlite-shm", "data/pawl.sqlite-journal",
            "data/pawl.sqlite.v1", "data/files", "data/files/", "data/damaged", "data/files/x", "data/files/a/b/x",
            "data/files/a/song", "data/incomplete/x", "data/files/../pawl.sqlite-wal", "data/./pawl.sqlite-shm",
            "same/pawl.sqlite-wal", "same/files/x", "inner/x", "inner/b/x", "log", "song",
        ]
        for name in refused {
            let error = #expect(throws: DownloadsStartError.self) {
                try RecordBackup.write(of: scene.path, to: "\(top)/\(name)")
            }
            let line = error.map { "\($0)" } ?? ""
            #expect(line.hasSuffix("of the data directory belongs to the service; name a file elsewhere"), "\(name): \(line)")
        }
        #expect(try contents() == before)
        for name in ["data/backup.sqlite", "same/again.sqlite", "data/files/../third.sqlite", "pawl.sqlite-wal"] {
            try RecordBackup.write(of: scene.path + "/", to: "\(top)/\(name)")
            #expect(manager.fileExists(atPath: "\(top)/\(name)"))
        }
        await store.close()
        #expect(try scene.open().load().records.count == 1)
    }

    /// Locks the records, so that copies of them wait once they have created their files.
    private func lockedRecords() async throws -> SQLiteConnection {
        let store = try scene.open()
        try await store.save(sampleRecord(1))
        await store.close()
        let lock = try SQLiteConnection(path: scene.path + "/pawl.sqlite")
        _ = try lock.text("PRAGMA journal_mode = DELETE")
        try lock.execute("BEGIN EXCLUSIVE")
        return lock
    }

    private func begin(unfinished: UnfinishedBackup = UnfinishedBackup()) -> Task<String?, Never> {
        let (directory, path) = (scene.path, copy)
        // On separate threads, since they wait for the test itself.
        return Task {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    do {
                        try RecordBackup.write(of: directory, to: path, unfinished: unfinished)
                        continuation.resume(returning: nil)
                    } catch {
                        continuation.resume(returning: "\(error)")
                    }
                }
            }
        }
    }

    private func temporaryFiles(_ count: Int) async throws {
        while try names.filter({ $0.hasPrefix(".pawl-backup.") }).count < count { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("Two concurrent copies to one path are both whole, and no other file is removed")
    func together() async throws {
        try Data("mine".utf8).write(to: URL(filePath: copy + ".partial"))
        let lock = try await lockedRecords()
        let attempts = [begin(), begin()]
        try await temporaryFiles(2)
        try lock.execute("ROLLBACK")
        for attempt in attempts { #expect(await attempt.value == nil) }
        #expect(try names == ["backup.sqlite", "backup.sqlite.partial", "data"])
        #expect(try String(contentsOfFile: copy + ".partial", encoding: .utf8) == "mine")
        #expect(try restored().records.count == 1)
    }

    @Test("A copy that ends halfway leaves nothing, and keeps the previous one")
    func interrupted() async throws {
        try Data("earlier".utf8).write(to: URL(filePath: copy))
        let lock = try await lockedRecords()
        let unfinished = UnfinishedBackup()
        let attempt = begin(unfinished: unfinished)
        try await temporaryFiles(1)
        unfinished.remove()
        #expect(try names == ["backup.sqlite", "data"])
        try lock.execute("ROLLBACK")
        #expect(await attempt.value != nil)
        // No further one begins after that.
        #expect(await begin(unfinished: unfinished).value != nil)
        #expect(try names == ["backup.sqlite", "data"])
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "earlier")
    }

    @Test("Copies the records before a migration")
    func beforeMigration() async throws {
        let store = try scene.open()
        try await store.save(sampleRecord(1))
        await store.close()
        let directory = try DataDirectory(path: scene.path)
        let path = directory.databasePath
        let kept = "\(path).v\(StoreSchema.version)"
        let connection = try SQLiteConnection(path: path)
        try StoreSchema.prepare(connection, path: path)
        #expect(!FileManager.default.fileExists(atPath: kept))
        let next = SchemaFile(StoreSchema.version + 1, "ALTER TABLE downloads ADD COLUMN note TEXT")
        try StoreSchema.prepare(connection, path: path, files: SchemaFile.sqlite + [next])
        let copy = try SQLiteConnection(path: kept)
        #expect(try copy.number("PRAGMA user_version") == Int64(StoreSchema.version))
        #expect(try copy.number("SELECT count(*) FROM downloads") == 1)
        #expect(try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int == 0o600)
    }
}
