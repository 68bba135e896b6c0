import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite("Stored events", .timeLimit(.minutes(3)))
struct StoredEventHistoryTests {
    private func changeID(_ epoch: UInt64, _ sequence: UInt64) -> EventID { EventID(epoch: epoch, sequence: sequence) }

    @Test("A new store knows no removals, and a used one those since its first run")
    func beginning() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let fresh = try store.load().events
        #expect(fresh.knownSince == nil && fresh.newest == .none && fresh.removals.isEmpty)
        try await store.write([.beginEpoch(500), .save(sampleRecord(1))])
        try await store.write([.remove(sampleRecord(1).id, changeID: changeID(500, 3))])
        let kept = try scene.contentsAfterCrash().events
        #expect(kept.knownSince == changeID(500, 0))
        #expect(kept.newest == changeID(500, 3))
        #expect(kept.removals == [RemovalHistory.Removal(changeID: changeID(500, 3), id: sampleRecord(1).id)])
        await store.close()
    }

    @Test("The event ids of records count")
    func recordsCount() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        var record = sampleRecord(1)
        record.download.changeID = changeID(500, 9)
        try await store.write([.beginEpoch(500), .save(record)])
        await store.close()
        let contents = try scene.contentsAfterCrash()
        #expect(contents.records.map(\.download.changeID) == [changeID(500, 9)])
        #expect(contents.events.newest == changeID(500, 9))
    }

    @Test("Keeps removals up to the limit, and knows the first of them")
    func bounded() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.write([.beginEpoch(1)])
        let count = RemovalHistory.capacity + 100
        try await store.write((1...count).map { .remove(RecordID(value: UInt128($0)), changeID: changeID(1, UInt64($0))) })
        let kept = try scene.contentsAfterCrash().events
        #expect(kept.removals.count == RemovalHistory.capacity)
        #expect(kept.knownSince == changeID(1, 101))
        #expect(kept.newest == changeID(1, UInt64(count)))
        await store.close()
    }

    @Test("In memory, too, removes the oldest removals and knows the first kept one")
    func boundedInMemory() {
        var history = RemovalHistory(knownSince: changeID(1, 0), capacity: 8)
        // Not quite in the order of their event ids.
        for number in [2, 1, 4, 3, 5, 6, 7, 8, 10, 9] as [UInt64] {
            history.insert(RemovalHistory.Removal(changeID: changeID(1, number), id: RecordID(value: UInt128(number))))
        }
        #expect(history.knownSince == changeID(1, 2))
        #expect(history.removals(after: changeID(1, 2), atMost: 100).map(\.changeID.sequence) == [3, 4, 5, 6, 7, 8, 9, 10])
        #expect(history.removals(after: changeID(1, 6), atMost: 2).map(\.changeID.sequence) == [7, 8])
        #expect(history.removals(after: changeID(2, 0), atMost: 2).isEmpty)
    }
}
