import Foundation
import TestSupport
import Testing

@testable import Downloads

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
        return try SQLiteRecordStore(DataDirectory(path: path)).load()
    }

    @Test("a copy has all that was durable when it was begun, while the store goes on, and replaces the one before")
    func besideAStore() async throws {
        let store = try scene.open()
        try await store.save(fullRecord(1))
        try RecordBackup.write(of: scene.path, to: copy)
        #expect(try restored().records.map(portrait) == [portrait(fullRecord(1))])
        try await store.save(sampleRecord(2))
        async let saved: Void = store.write((3..<200).map { .save(sampleRecord($0)) })
        try RecordBackup.write(of: scene.path, to: copy)
        try await saved
        // The group of changes is there as a whole, or not yet.
        #expect([2, 199].contains(try restored().records.count))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try names.filter { $0.hasPrefix("backup") } == ["backup.sqlite"])
        await store.close()
    }

    @Test("what cannot be copied leaves nothing, and what was there stays")
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
        // A file that is no record file, and one that is damaged.
        let other = scene.temporary.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try Data("earlier".utf8).write(to: URL(filePath: copy))
        for content in [Data(), Data("no database".utf8), try Data(contentsOf: URL(filePath: records)).prefix(6000)] {
            try content.write(to: URL(filePath: other + "/pawl.sqlite"))
            refuses(other, copy)
        }
        #expect(try names == ["backup.sqlite", "data", "link", "other"])
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "earlier")
        #expect(try scene.open().load().records.count == 1)
    }

    @Test("the records are copied before their shape is changed")
    func beforeMigration() throws {
        let version = StoreSchema.version - 1
        do {
            let directory = try DataDirectory(path: scene.path)
            let connection = try SQLiteConnection(path: directory.databasePath)
            try StoreSchema.prepare(
                connection, path: directory.databasePath, migrations: Array(StoreSchema.migrations.prefix(version)))
        }
        let kept = "\(scene.path)/pawl.sqlite.v\(version)"
        #expect(!FileManager.default.fileExists(atPath: kept))
        _ = try scene.open().load()
        #expect(try SQLiteConnection(path: kept).number("PRAGMA user_version") == Int64(version))
        #expect(try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int == 0o600)
    }
}
