import Synchronization
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore

@Suite("Probes of the store", .timeLimit(.minutes(3)))
struct StoreProbeTests {
    /// Finds no rows, or fails.
    private struct EmptyReader: StoreReader {
        let failure: StoreError?
        var dialect: StoreDialect { StoreDialect() }

        func rows(
            _ name: String, _ sql: String, _ parameters: [[String]], _ each: (SQLiteStatement) throws -> Void
        ) throws(StoreError) {
            if let failure { throw failure }
        }
    }

    /// Responds as configured, and counts its calls.
    private final class ScriptedStore: RecordStore {
        enum Mood {
            case works, fails, hangs
        }

        let mood: Mutex<Mood>
        let submitted = Mutex<[StoreCommit]>([])
        let readFailure = Mutex<StoreError?>(nil)

        init(_ mood: Mood) { self.mood = Mutex(mood) }

        func load() throws(StoreError) -> StoredContents { StoredContents() }

        func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit {
            let commit = StoreCommit()
            submitted.withLock { $0.append(commit) }
            switch mood.withLock({ $0 }) {
            case .works: commit.set(nil)
            case .fails: commit.set(.full)
            case .hangs: break
            }
            return commit
        }

        func read<Value: Sendable>(
            noting ids: [RecordID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
        ) async throws(StoreError) -> Value {
            try StoreError.translating { try body(EmptyReader(failure: readFailure.withLock { $0 })) }
        }
        func note(_ progress: StoredProgress) {}
        func close() async {}
    }

    @Test("A store that writes has no fault")
    func works() async {
        let probe = StoreProbe(ScriptedStore(.works), limit: .seconds(60))
        #expect(await probe.condition() == StoreCondition())
    }

    @Test("A failing store is reported with its reason until it works again")
    func fails() async throws {
        let store = ScriptedStore(.fails)
        let probe = StoreProbe(store, limit: .seconds(60))
        #expect(await probe.condition().degraded == [.diskFull])
        #expect(await probe.condition().reason == StoreError.full.description)
        #expect(await probe.condition().unreadable == nil)
        store.mood.withLock { $0 = .works }
        try await until { await probe.condition() == StoreCondition() }
    }

    @Test("A hanging disk is reported in time, and gets no further work")
    func hangs() async throws {
        let store = ScriptedStore(.hangs)
        let probe = StoreProbe(store, limit: .milliseconds(1))
        let begun = ContinuousClock.now
        while ContinuousClock.now - begun < StoreProbe.freshness * 2 {
            let condition = await probe.condition()
            #expect(condition.degraded == [.notWritable])
            #expect(condition.reason?.contains("no answer from the disk") == true)
            // It depends on the time of the read.
            #expect(condition.unreadable?.contains("no answer from the disk") != false)
            try await nextTurn()
        }
        #expect(store.submitted.withLock { $0.count } == 1)
        // The disk works again.
        for commit in store.submitted.withLock({ $0 }) { commit.set(nil) }
        store.mood.withLock { $0 = .works }
        try await until { await probe.condition() == StoreCondition() }
    }

    @Test("A file system without free bytes is full, and each change is reported once, even without requests")
    func room() async {
        let (hasRoom, told) = (Locked(true), Locked<[[StoreCondition.Degradation]]>([]))
        let probe = StoreProbe(ScriptedStore(.works), limit: .seconds(60)) {
            hasRoom.withLock { $0 } ? nil : (.diskFull, "no space left in /files")
        } changed: { condition in
            told.withLock { $0.append(condition.degraded) }
            if let reason = condition.reason { #expect(reason.contains("/files")) }
        }
        await probe.watch()
        #expect(await probe.condition() == StoreCondition())
        hasRoom.withLock { $0 = false }
        while told.withLock({ $0.count }) < 1 { await probe.watch() }
        hasRoom.withLock { $0 = true }
        while told.withLock({ $0.count }) < 2 { await probe.watch() }
        for _ in 0..<10 { await probe.watch() }
        #expect(told.withLock { $0 } == [[.diskFull], []])
    }

    @Test("Distinguishes an unreadable store from an unwritable one")
    func unreadable() async {
        let store = ScriptedStore(.works)
        store.readFailure.withLock { $0 = .damaged("page 7") }
        let condition = await StoreProbe(store, limit: .seconds(60)).condition()
        #expect(condition.unreadable == StoreError.damaged("page 7").description)
        #expect(condition.degraded.isEmpty)
    }

    @Test("Writes at intervals, however often it is asked")
    func frequency() async {
        let store = ScriptedStore(.works)
        let probe = StoreProbe(store, limit: .seconds(60))
        let begun = ContinuousClock.now
        for _ in 0..<1_000 { #expect(await probe.condition() == StoreCondition()) }
        let most = Int((ContinuousClock.now - begun) / StoreProbe.freshness) + 1
        #expect(store.submitted.withLock { $0.count } <= most)
    }

    @Test("A real store writes on request, and reports when it is closed")
    func real() async throws {
        let directory = try TemporaryDirectory()
        let store = try GroupCommitStore(try DataDirectory(path: directory.path))
        try await store.write([.probe])
        await store.close()
        #expect(await StoreProbe(store).condition().unreadable == StoreError.closed.description)
    }
}
