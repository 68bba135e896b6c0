import Foundation
import HTTPCore
import TestSupport
import Testing
import System

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore

@Suite(.timeLimit(.minutes(3)))
struct SQLiteRecordStoreTests {
    @Test("A request follows earlier writes")
    func requestHasItsPlace() async throws {
        let scene = try StoreScene()
        let store = try GroupCommitStore(SQLiteRecordWriter(DataDirectory(path: scene.path)))
        let isHeld = Monitor(true)
        store.begin { _ in isHeld.wait { $0 ? .wait(nil) : .done(()) } }
        let (before, after) = (sampleRecord(1), sampleRecord(2))
        _ = store.submit([.save(before)])
        let found = await withCheckedContinuation { continuation in
            store.begin { writer in
                continuation.resume(returning: (try? writer?.records([before.id, after.id]))?.map(\.id))
            }
            _ = store.submit([.save(after)])
            isHeld.withLock { ($0 = false, wake: true) }
        }
        // One group accepts both.
        #expect(found == [before.id, after.id])
        await store.close()
    }

    @Test("Shows the database in time that the instance lives, whatever is requested")
    func signOfLife() async throws {
        let scene = try StoreScene()
        let writer = try PatientWriter(SQLiteRecordWriter(DataDirectory(path: scene.path)))
        let signs = writer.signs
        let store = try GroupCommitStore(writer)
        // Each arrives before the last has gone.
        let asked = Locked(0)
        @Sendable func ask() {
            store.begin { writer in
                asked.withLock { $0 += 1 }
                if writer != nil, signs.value < 3 { ask() }
            }
        }
        ask()
        try await signs.wait { $0 >= 3 }
        await store.close()
        #expect(asked.withLock { $0 } > 0)
    }

    @Test("A full disk fails exactly the changes that do not fit")
    func fullDiskFailsWhatDoesNotFit() async throws {
        let scene = try StoreScene()
        let store = try scene.open(maximumPages: 12)
        var huge = sampleRecord(1)
        huge.download.track = Array(repeating: UInt8(ascii: "x"), count: 1_000_000)
        let hugeRecord = huge
        let outcomes = await withTaskGroup(of: (Int, StoreError?).self) { group in
            for number in 0..<8 {
                group.addTask {
                    do throws(StoreError) {
                        try await store.save(number == 1 ? hugeRecord : sampleRecord(number))
                        return (number, nil)
                    } catch {
                        return (number, error)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes == [1: .full])
        #expect(try scene.contentsAfterCrash().records.count == 7)
        // Freed space lets it write again.
        try await store.write((0..<8).map { .remove(sampleRecord($0).id, changeID: .none) })
        try await store.save(sampleRecord(9))
        #expect(try scene.contentsAfterCrash().records.map(\.id) == [sampleRecord(9).id])
        await store.close()
    }

    @Test("A write that fails in part leaves nothing")
    func failedWriteLeavesNothing() async throws {
        let scene = try StoreScene()
        let store = try scene.open(maximumPages: 12)
        var huge = sampleRecord(2)
        huge.download.track = Array(repeating: UInt8(ascii: "x"), count: 1_000_000)
        let changes: [StoreChange] = [.save(sampleRecord(1)), .save(huge)]
        await #expect(throws: StoreError.full) { try await store.write(changes) }
        #expect(try scene.contentsAfterCrash().records.isEmpty)
        await store.close()
    }

    @Test("A store that is freed without closing releases its directory")
    func droppedStoreLetsGo() async throws {
        let scene = try StoreScene()
        do {
            let store = try scene.open()
            try await store.save(sampleRecord(1))
        }
        while true {
            do {
                let store = try scene.open()
                #expect(try store.load().records.count == 1)
                await store.close()
                return
            } catch StoreError.inUse {
                try await nextTurn()
            }
        }
    }

    @Test("Two threads read many records in order, and each refuses a damaged one")
    func manyRecords() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.write((0..<12_000).map { .add(sampleRecord($0, state: .cancelled)) })
        await store.close()
        let ids = [10, 11_990].map { sampleRecord($0).id }
        let connection = try SQLiteConnection(path: scene.path + "/pawl.sqlite")
        for id in ids { try connection.execute("UPDATE downloads SET state = 'odd' WHERE id = '\(id)'") }
        let reopened = try scene.open()
        let contents = try reopened.load()
        #expect(contents.records.map(\.id) == (0..<12_000).map { sampleRecord($0).id }.filter { !ids.contains($0) })
        #expect(contents.refused.compactMap(\.id) == ids)
        await reopened.close()
    }

    @Test("Records are readable by their owner only")
    func recordsAreReadableByOwnerOnly() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.save(fullRecord())
        for (name, mode) in [("", 0o700), ("/pawl.sqlite", 0o600), ("/pawl.sqlite-wal", 0o600), ("/pawl.sqlite-shm", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scene.path + name)
            #expect((attributes[.posixPermissions] as? Int) == mode, "\(name)")
        }
        await store.close()
    }
}

/// A writer that must report every millisecond.
private final class PatientWriter<Writer: RecordWriter>: RecordWriter {
    private let writer: Writer
    /// The number of reports without changes.
    let signs = Waiter(0)

    init(_ writer: sending Writer) {
        self.writer = writer
    }

    func load() throws(StoreError) -> StoredContents { try writer.load() }
    var dialect: StoreDialect { writer.dialect }
    func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (Writer.Row) throws -> Void
    ) throws(StoreError) {
        try writer.rows(name, sql, parameters, each)
    }
    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        if changes.isEmpty { signs.update { $0 += 1 } }
        try writer.commit(changes, isRepeated: isRepeated)
    }
    func reserveRoom() -> Bool { true }
    var longestSilence: Duration? { .milliseconds(1) }
    func close() { writer.close() }
}
