import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

@Suite("Checks of data directories", .timeLimit(.minutes(3)))
struct DirectoryCheckTests {
    private static let content = Array("the bytes of a finished file".utf8)

    /// A data directory with the records of `write` and these files.
    private func directory(_ records: [DownloadRecord], files: [String: [UInt8]]) async throws -> StoreScene {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.submit(records.map(StoreChange.save)).wait()
        await store.close()
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(filePath: "\(scene.path)/\(name)"))
        }
        return scene
    }

    private func completed(_ number: Int, _ name: String) -> DownloadRecord {
        var record = sampleRecord(number, state: .completed)
        record.download.filename = name
        record.download.bytesReceived = Int64(Self.content.count)
        record.download.bytesTotal = Int64(Self.content.count)
        record.download.sha256Bytes = SHA256.digest(of: Self.content)
        return record
    }

    private func paused(_ number: Int, synced: Int64) -> DownloadRecord {
        var record = sampleRecord(number, state: .paused)
        record.download.bytesTotal = 100
        record.download.bytesReceived = synced
        record.segments = [SyncedSegment(start: 0, end: 100, synced: synced)]
        record.partGeneration = 1
        return record
    }

    /// The name of the part file of a record from ``paused(_:synced:)``.
    private func part(_ number: Int) -> String { PartName(sampleRecord(number).id, 1).text }

    private func check(_ scene: StoreScene, repairing: Bool = false) throws -> DirectoryReport {
        try DirectoryCheck(path: scene.path).run(repairing: repairing)
    }

    @Test("A correct directory has no faults; files without a record belong to the user")
    func sound() async throws {
        let scene = try await directory(
            [completed(1, "a"), paused(2, synced: 50), sampleRecord(3)],
            files: [
                "files/a": Self.content, "files/mine": [1],
                "incomplete/\(part(2))": [UInt8](repeating: 0, count: 100),
            ])
        let report = try check(scene)
        #expect(report.faults.isEmpty)
        #expect(report.records == 3 && report.files == 1)
        #expect(report.bytes == Int64(Self.content.count))
    }

    @Test("Finds and repairs each fault with its record, after which there is none; without repair nothing changes")
    func faults() async throws {
        var gone = completed(5, "gone")
        gone.download.fileMissing = true
        let records = [
            completed(1, "missing"), completed(2, "longer"), completed(3, "other"), completed(4, "sound"), gone,
            paused(6, synced: 50), paused(7, synced: 50),
        ]
        var other = Self.content
        other[3] ^= 1
        let scene = try await directory(
            records,
            files: [
                "files/longer": Self.content + [0], "files/other": other, "files/sound": Self.content, "files/gone": Self.content,
                "incomplete/\(part(6))": [UInt8](repeating: 0, count: 20), "incomplete/\(part(8))": [0], "incomplete/mine": [0],
            ])
        let expected: [(DirectoryFault.Kind, RecordID?)] = [
            (.missingFile, records[0].id), (.wrongFile, records[1].id), (.wrongFile, records[2].id), (.returnedFile, gone.id),
            (.missingBytes, records[5].id), (.missingBytes, records[6].id), (.orphan, nil),
        ]
        // A removal of files must not end at a directory.
        try FileManager.default.createDirectory(atPath: scene.path + "/incomplete/@eaDir", withIntermediateDirectories: false)
        for _ in 0..<2 {
            let report = try check(scene)
            #expect(report.foreign == ["@eaDir", "mine"])
            #expect(report.faults.map(\.kind) == expected.map(\.0))
            #expect(report.faults.map(\.id) == expected.map(\.1))
            #expect(report.repaired == 0)
        }
        let repaired = try check(scene, repairing: true)
        #expect(repaired.faults.map(\.kind) == expected.map(\.0))
        #expect(repaired.repaired == expected.count)
        #expect(try check(scene).faults.isEmpty)

        let after = try scene.contentsAfterCrash().records.map(\.download)
        #expect(after.map(\.state) == [.completed, .failed, .failed, .completed, .completed, .paused, .paused])
        #expect(after.map(\.fileMissing) == [true, false, false, false, false, false, false])
        #expect(after[1].error?.code == .checksumMismatch)
        #expect(after[5].bytesReceived == 0)
        #expect(after[6].bytesReceived == 0)
        // The obstacle is kept.
        #expect(try Data(contentsOf: URL(filePath: scene.path + "/damaged/other")) == Data(other))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.path + "/files").sorted() == ["gone", "sound"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scene.path + "/incomplete").sorted() == [
                part(6), "@eaDir", "mine",
            ])
    }

    @Test(
        "Lost records are refused, and nothing is removed, until a repair begins new ones",
        arguments: ["no bytes", "missing", "no records", "no log"])
    func lostRecords(_ loss: String) async throws {
        let scene = try await directory([paused(2, synced: 50)], files: ["incomplete/\(part(2))": [1, 2], "files/mine": [3]])
        let records = scene.path + "/pawl.sqlite"
        switch loss {
        case "missing": try FileManager.default.removeItem(atPath: records)
        case "no records": try SQLiteConnection(path: records).execute("DELETE FROM downloads")
        default: try Data().write(to: URL(filePath: records))
        }
        // A first start that was killed leaves everything but the first page in the log.
        if loss == "no log" { _ = try SQLiteConnection(path: records).text("PRAGMA journal_mode = WAL") }
        let reasons = [
            #expect(throws: StoreError.self) { try scene.open() }?.description,
            #expect(throws: DownloadsStartError.self) { try check(scene) }?.description,
        ]
        for reason in reasons {
            #expect(reason?.contains("pawl check --repair") == true && reason?.contains("backup") == true)
        }
        if loss == "no bytes" || loss == "missing" {
            let copy = #expect(throws: DownloadsStartError.self) {
                try RecordBackup.write(of: scene.path, to: scene.temporary.path + "/copy")
            }
            #expect(copy?.description.contains("pawl.sqlite") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.path + "/incomplete") == [part(2)])
        let report = try DirectoryCheck(path: scene.path, beginningAnew: true).run(repairing: true)
        #expect(report.faults.map(\.kind) == [.lostRecords, .orphan] && report.repaired == 2)
        #expect(try check(scene).faults.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.path + "/files") == ["mine"])
    }

    @Test("A first start that ended before it wrote its records can be repeated")
    func firstStart() throws {
        let scene = try StoreScene()
        try FileManager.default.createDirectory(atPath: scene.path, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: scene.path + "/pawl.sqlite"))
        let directory = try DataDirectory(path: scene.path, opensDownloads: false)
        #expect(try GroupCommitStore(directory).load().records.isEmpty)
    }

    @Test("Checks files in folders and in another directory; a directory without files does not make them missing")
    func foldersElsewhere() async throws {
        var records = [completed(1, "a"), completed(2, "a"), completed(3, "gone")]
        for (index, folder) in ["x/y", "x", "x/y"].enumerated() { records[index].download.folder = folder }
        let scene = try await directory(records, files: [:])
        let elsewhere = scene.path + "/volume"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        #expect(throws: DownloadsStartError.self) { try DirectoryCheck(path: scene.path, downloads: elsewhere) }
        #expect(throws: DownloadsStartError.self) { try DirectoryCheck(path: scene.path, downloads: scene.path + "/nowhere") }
        #expect(!FileManager.default.fileExists(atPath: scene.path + "/nowhere"))
        try FileManager.default.createDirectory(atPath: elsewhere + "/files/x/y", withIntermediateDirectories: true)
        let damaged = [UInt8](Self.content.reversed())
        try Data(damaged).write(to: URL(filePath: elsewhere + "/files/x/y/a"))
        try Data(Self.content).write(to: URL(filePath: elsewhere + "/files/x/a"))
        let report = try DirectoryCheck(path: scene.path, downloads: elsewhere).run(repairing: true)
        #expect(report.faults.map(\.kind) == [.wrongFile, .missingFile])
        #expect(report.faults.map(\.detail).allSatisfy { $0.contains("files/x/y/") })
        #expect(report.repaired == 2)
        #expect(try Data(contentsOf: URL(filePath: elsewhere + "/damaged/a")) == Data(damaged))
        #expect(try DirectoryCheck(path: scene.path, downloads: elsewhere).run(repairing: false).faults.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere + "/files/x").sorted() == ["a", "y"])
    }

    @Test("Keeps another file under a finished file's name, and recognises a restored one")
    func otherFiles() async throws {
        // Records as the service leaves them, with identities of other files.
        let elsewhere = FileIdentity(device: 1, inode: 2, size: Int64(Self.content.count), modified: 3)
        var records = [completed(1, "a"), completed(2, "a"), completed(3, "foreign"), completed(4, "restored")]
        for index in records.indices { records[index].download.file = elsewhere }
        let foreign = [UInt8](Self.content.reversed())
        let scene = try await directory(
            records, files: ["files/a": Self.content, "files/foreign": foreign, "files/restored": Self.content])
        let expected = [records[0].id, records[2].id]
        let found = try check(scene)
        #expect(found.faults.map(\.kind) == [.otherFile, .otherFile])
        #expect(found.faults.map(\.id) == expected)
        #expect(try check(scene, repairing: true).repaired == 2)
        #expect(try check(scene).faults.isEmpty)

        let after = try scene.contentsAfterCrash().records.map(\.download)
        #expect(after.map(\.state) == Array(repeating: .completed, count: 4))
        #expect(after.map(\.fileMissing) == [true, false, true, false])
        let files = LocalFiles(try DataDirectory(path: scene.path)).finished
        #expect(try after[1].file == files.identify("a"))
        #expect(try after[3].file == files.identify("restored"))
        #expect(try Data(contentsOf: URL(filePath: scene.path + "/files/foreign")) == Data(foreign))
        #expect(!FileManager.default.fileExists(atPath: scene.path + "/damaged"))
    }

    @Test("A published part file is no fault: the next start completes its record")
    func published() async throws {
        let record = paused(1, synced: 100)
        let scene = try await directory([record], files: ["incomplete/\(part(1))": [1]])
        #expect(try check(scene).faults.map(\.kind) == [.missingBytes])
        try makeWhole(record.id, [1], in: scene.path, linkedAs: "a")
        #expect(try check(scene).faults.isEmpty)
    }

    @Test("Checks and creates nothing without a data directory, or while a service uses it")
    func refusals() async throws {
        let scene = try await directory([], files: [:])
        let held = try DataDirectory(path: scene.path)
        #expect(throws: DownloadsStartError.self) { _ = try check(scene) }
        held.release()
        _ = try check(scene)
        let nowhere = scene.temporary.path + "/nowhere"
        #expect(throws: DownloadsStartError.self) { _ = try DirectoryCheck(path: nowhere) }
        #expect(!FileManager.default.fileExists(atPath: nowhere))
    }

    @Test("Reports a damaged record file, and changes nothing based on it")
    func damagedRecords() async throws {
        let scene = try await directory((1...400).map { completed($0, "f\($0)") }, files: [:])
        let path = scene.path + "/pawl.sqlite"
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try handle.seekToEnd()
        // Two pages of downloads are exchanged: each alone is valid.
        let page: UInt64 = 4096
        #expect(size > 30 * page)
        try handle.seek(toOffset: 20 * page)
        let first = try #require(try handle.read(upToCount: Int(page)))
        try handle.seek(toOffset: 23 * page)
        let second = try #require(try handle.read(upToCount: Int(page)))
        try handle.seek(toOffset: 23 * page)
        try handle.write(contentsOf: first)
        try handle.seek(toOffset: 20 * page)
        try handle.write(contentsOf: second)
        try handle.close()
        let report: DirectoryReport
        do {
            report = try check(scene, repairing: true)
        } catch {
            // Too damaged to read further: one line reports it.
            #expect("\(error)".contains("damaged"))
            return
        }
        #expect(report.faults.first?.kind == .damagedRecords)
        #expect(report.repaired == 0)
    }
}
