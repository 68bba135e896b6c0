import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

/// Properties of records in every store.
@Suite("Stores of records", .timeLimit(.minutes(3)))
@OffPool struct RecordStoreTests {
    @Test("A record survives a round trip with every member", arguments: StoreKind.available)
    func recordComesBackWhole(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        var bare = sampleRecord(2, state: .completed)
        bare.entity = SavedEntity()
        bare.download.endedAt = bare.download.updatedAt
        do {
            let store = try scene.open()
            #expect(try store.load().records.isEmpty)
            try await store.write([.save(fullRecord(1)), .save(bare), .set(name: "maxConcurrent", value: "3")])
            await store.close()
        }
        let store = try scene.open()
        let contents = try store.load()
        #expect(contents.records.map(portrait) == [portrait(fullRecord(1)), portrait(bare)])
        #expect(contents.settings == ["maxConcurrent": "3"])
        await store.close()
    }

    @Test("An acknowledged change is in the files before anything is closed", arguments: StoreKind.available)
    func acknowledgedIsInFiles(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        for number in 0..<20 {
            try await store.save(sampleRecord(number))
            #expect(try scene.contentsAfterCrash().records.count == number + 1)
        }
        try await store.write([.remove(sampleRecord(3).id, changeID: .none), .set(name: "a", value: "b")])
        let contents = try scene.contentsAfterCrash()
        #expect(contents.records.count == 19)
        #expect(contents.settings == ["a": "b"])
        await store.close()
    }

    @Test("Many concurrent writers all get their results", arguments: StoreKind.available)
    func manyWritersAtOnce(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open(GroupCommitOptions(largestGroup: 10))
        try await withThrowingTaskGroup { group in
            for writer in 0..<64 {
                group.addTask {
                    for round in 0..<10 { try await store.save(sampleRecord(writer * 10 + round)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try scene.contentsAfterCrash().records.map(\.id) == (0..<640).map { sampleRecord($0).id })
        await store.close()
    }

    @Test("A write of a thousand records is durable together", arguments: StoreKind.available)
    func thousandRecordsAreDurableAsOne(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        try await store.write((0..<1_000).map { .save(sampleRecord($0)) })
        #expect(try scene.contentsAfterCrash().records.count == 1_000)
        await store.close()
    }

    @Test("Without reserved space, only new records are refused", arguments: StoreKind.available)
    func fullReserveRefusesOnlyNew(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let hasRoom = Locked(true)
        let store = try scene.open(whileRoom: hasRoom)
        try await store.write([.add(sampleRecord(1)), .add(sampleRecord(2))])
        hasRoom.withLock { $0 = false }
        let commits = [
            store.submit([.add(sampleRecord(3))]), store.submit([.remove(sampleRecord(2).id, changeID: .none)]),
            store.submit([.set(name: "a", value: "b"), .add(sampleRecord(4))]),
            store.submit([.save(sampleRecord(1, state: .paused))]), store.submit([.probe]),
        ]
        await #expect(throws: StoreError.full) { try await commits[0].wait() }
        try await commits[1].wait()
        await #expect(throws: StoreError.full) { try await commits[2].wait() }
        try await commits[3].wait()
        await #expect(throws: StoreError.full) { try await commits[4].wait() }
        var contents = try scene.contentsAfterCrash()
        #expect(contents.records.map(\.download.state) == [.paused])
        #expect(contents.settings.isEmpty)
        hasRoom.withLock { $0 = true }
        try await store.write([.add(sampleRecord(3))])
        contents = try scene.contentsAfterCrash()
        #expect(contents.records.count == 2)
        await store.close()
    }

    @Test(
        "Noted progress is written with the next group, at the latest when the store closes", arguments: StoreKind.available)
    func progressIsWrittenWithNextGroup(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open(GroupCommitOptions(noteDelay: .seconds(3600)))
        try await store.save(sampleRecord(1))
        let progress = StoredProgress(
            id: sampleRecord(1).id, bytesReceived: 10, segments: [SyncedSegment(start: 0, end: nil, synced: 10)])
        store.note(StoredProgress(id: sampleRecord(1).id, bytesReceived: 5, segments: []))
        store.note(progress)
        store.note(StoredProgress(id: sampleRecord(77).id, bytesReceived: 5, segments: []))
        try await store.save(sampleRecord(2))
        let noted = try #require(try scene.contentsAfterCrash().records.first)
        #expect(noted.download.bytesReceived == 10)
        #expect(noted.segments == progress.segments)
        #expect(try scene.contentsAfterCrash().records.count == 2)

        store.note(StoredProgress(id: sampleRecord(1).id, bytesReceived: 11, segments: []))
        await store.close()
        #expect(try scene.contentsAfterCrash().records.first?.download.bytesReceived == 11)
    }

    @Test("Noted progress does not wait for a write forever", arguments: StoreKind.available)
    func progressDoesNotWaitForEver(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open(GroupCommitOptions(noteDelay: .milliseconds(1)))
        try await store.save(sampleRecord(1))
        store.note(StoredProgress(id: sampleRecord(1).id, bytesReceived: 5, segments: []))
        while try scene.contentsAfterCrash().records.first?.download.bytesReceived != 5 { try await nextTurn() }
        await store.close()
    }

    @Test("Writes that no client waits for share a transaction with the next awaited one", arguments: StoreKind.available)
    func unawaitedWritesGather(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let counts = Locked<[Int]>([])
        let store = try scene.open(
            GroupCommitOptions(gatherTime: .seconds(3600), committed: { _, count in counts.withLock { $0.append(count) } }))
        let gathered = store.submit([.save(sampleRecord(1))], isAwaited: false)
        try await store.save(sampleRecord(2))
        try await gathered.wait()
        #expect(counts.withLock { $0 } == [2])
        // A read has the changes that were submitted before it.
        _ = store.submit([.save(sampleRecord(3))], isAwaited: false)
        #expect(try await store.records([sampleRecord(3).id]).count == 1)
        _ = store.submit([.save(sampleRecord(4))], isAwaited: false)
        await store.close()
        #expect(try scene.contentsAfterCrash().records.count == 4)
    }

    @Test("A note older than a save of the same download does not undo it", arguments: StoreKind.available)
    func olderNoteDoesNotUndoSave(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open(GroupCommitOptions(noteDelay: .seconds(3600)))
        store.note(StoredProgress(id: sampleRecord(1).id, bytesReceived: 5, segments: []))
        var record = sampleRecord(1)
        record.download.bytesReceived = 50
        try await store.save(record)
        await store.close()
        #expect(try scene.contentsAfterCrash().records.first?.download.bytesReceived == 50)
    }

    @Test("Writes nothing after closing", arguments: StoreKind.available)
    func closedStoreWritesNothing(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        await store.close()
        await store.close()
        await #expect(throws: StoreError.closed) { try await store.save(sampleRecord(1)) }
        #expect(throws: StoreError.closed) { try store.load() }
        store.note(StoredProgress(id: sampleRecord(1).id, bytesReceived: 5, segments: []))
    }

    @Test("A secret never describes itself")
    func secretNeverDescribesItself() {
        #expect(!"\(fullRecord())".contains("s3cret"))
        #expect(!String(reflecting: fullRecord().headers).contains("s3cret"))
    }

    @Test("Results of keys survive a round trip until they are removed", arguments: StoreKind.available)
    func keysComeBackUntilForgotten(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open()
        let refusals = [
            Problem(.invalidRequest, #"ü "\"#), Problem(.duplicate, "", state: "paused", id: "9"),
        ]
        let outcomes =
            [.success(.created(fullRecord().download)), .success(.existing(sampleRecord(2).download))]
            + refusals.map(Addition.Outcome.failure)
        var records = [
            IdempotencyRecord(
                key: "a", digest: [1, 2], outcomes: outcomes, createdAt: Timestamp(millisecondsSinceEpoch: 2)),
            IdempotencyRecord(key: "b", digest: [], outcomes: [], createdAt: Timestamp(millisecondsSinceEpoch: 1)),
        ]
        records[0].warnings = ["Pages are left out."]
        try await store.write(records.map(StoreChange.remember))
        let found = try scene.contentsAfterCrash().idempotencyRecords
        #expect(found.map(\.key) == ["b", "a"])
        #expect(found.map(\.digest) == [[], [1, 2]])
        #expect(found.map(\.createdAt.millisecondsSinceEpoch) == [1, 2])
        #expect(found.map(\.warnings) == [[], ["Pages are left out."]])
        #expect(found[0].outcomes.isEmpty)
        guard case .success(.created(let created)) = found[1].outcomes[0],
            case .success(.existing(let existing)) = found[1].outcomes[1],
            case .failure(let first) = found[1].outcomes[2], case .failure(let second) = found[1].outcomes[3]
        else {
            Issue.record("\(found[1].outcomes)")
            return
        }
        #expect(shownPortrait(created) == shownPortrait(fullRecord().download))
        #expect(shownPortrait(existing) == shownPortrait(sampleRecord(2).download))
        #expect([first, second] == refusals)
        try await store.write([.forget("a"), .forget("unknown")])
        #expect(try scene.contentsAfterCrash().idempotencyRecords.map(\.key) == ["b"])
        await store.close()
    }

    /// The members of a download that clients see.
    private func shownPortrait(_ download: Download) -> [String: String] {
        portrait(DownloadRecord(download)).filter { !["file", "revision", "stamp", "track", "rank"].contains($0.key) }
            .merging(["track": String(decoding: download.track ?? [], as: UTF8.self)]) { $1 }
    }

    @Test("A transaction has a limit of changes, and a larger write is alone", arguments: StoreKind.available)
    func transactionIsBounded(_ kind: StoreKind) async throws {
        let scene = try StoreScene(kind)
        let store = try scene.open(GroupCommitOptions(largestGroup: 3))
        let commits = [5, 2, 2, 1].map { count in
            store.submit((0..<count).map { .set(name: "\(count)-\($0)", value: "x") })
        }
        for commit in commits { try await commit.wait() }
        #expect(try scene.contentsAfterCrash().settings.count == 8)
        #expect(!store.isCongested)
        await store.close()
    }
}
