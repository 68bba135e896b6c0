import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite("Asking the store whether it takes writes", .timeLimit(.minutes(3)))
struct StoreProbeTests {
    /// Answers as it is told, and counts what it is asked.
    private final class ScriptedStore: RecordStore {
        enum Mood {
            case works, fails, hangs
        }

        let mood: Mutex<Mood>
        let submitted = Mutex<[StoreCommit]>([])

        init(_ mood: Mood) { self.mood = Mutex(mood) }

        func load() throws(StoreError) -> StoredContents { StoredContents() }

        func submit(_ changes: [StoreChange]) -> StoreCommit {
            let commit = StoreCommit()
            submitted.withLock { $0.append(commit) }
            switch mood.withLock({ $0 }) {
            case .works: commit.conclude(.success(()))
            case .fails: commit.conclude(.failure(.full))
            case .hangs: break
            }
            return commit
        }

        func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord] { [] }
        func note(_ progress: StoredProgress) {}
        func close() async {}
    }

    @Test("a store that writes is not complained of")
    func works() async {
        let probe = StoreProbe(ScriptedStore(.works), limit: .seconds(60))
        #expect(await probe.complaint() == nil)
    }

    @Test("a store that fails is complained of with its reason, until it works again")
    func fails() async throws {
        let store = ScriptedStore(.fails)
        let probe = StoreProbe(store, limit: .seconds(60))
        #expect(await probe.complaint() == StoreError.full.description)
        store.mood.withLock { $0 = .works }
        while await probe.complaint() != nil { await Task.yield() }
    }

    @Test("a disk that hangs is complained of in time, and is not given more to do")
    func hangs() async throws {
        let store = ScriptedStore(.hangs)
        let probe = StoreProbe(store, limit: .milliseconds(1))
        let begun = ContinuousClock.now
        while ContinuousClock.now - begun < StoreProbe.freshness * 2 {
            #expect(await probe.complaint()?.contains("no answer from the disk") == true)
            await Task.yield()
        }
        #expect(store.submitted.withLock { $0.count } == 1)
        // The disk comes back.
        for commit in store.submitted.withLock({ $0 }) { commit.conclude(.success(())) }
        store.mood.withLock { $0 = .works }
        while await probe.complaint() != nil { await Task.yield() }
    }

    @Test("however often it is asked, it writes once in a while")
    func frequency() async {
        let store = ScriptedStore(.works)
        let probe = StoreProbe(store, limit: .seconds(60))
        let begun = ContinuousClock.now
        for _ in 0..<1_000 { #expect(await probe.complaint() == nil) }
        let most = Int((ContinuousClock.now - begun) / StoreProbe.freshness) + 1
        #expect(store.submitted.withLock { $0.count } <= most)
    }

    @Test("a real store writes when it is asked, and says so when it is closed")
    func real() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteRecordStore(try DataDirectory(path: directory.path))
        try await store.write([.probe])
        await store.close()
        #expect(await StoreProbe(store).complaint() == StoreError.closed.description)
    }
}
