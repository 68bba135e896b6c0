import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

/// A reader that was disconnected during a restart.
@Suite("Events over a restart", .timeLimit(.minutes(3)))
struct EventsOverRestartTests {
    /// All events for a returning reader, in short form.
    private func sent(_ fixture: ServiceFixture, after: EventID) -> [String] {
        let reader = fixture.service.events.subscribe(scope: nil, after: after, interval: .seconds(60)) {}
        defer { reader.cancel() }
        var sent: [String] = []
        while let event = reader.next(now: .now) {
            switch event {
            case .snapshot(_, let downloads): sent.append("snapshot of \(downloads.map(\.id))")
            case .download(_, let download): sent.append("\(download.id) \(download.state)")
            case .removed(_, let id): sent.append("\(id) removed")
            }
        }
        return sent
    }

    /// The event id of a reader that is up to date.
    private func position(_ fixture: ServiceFixture) throws -> EventID {
        let reader = fixture.service.events.subscribe(scope: nil, after: nil, interval: .seconds(60)) {}
        defer { reader.cancel() }
        guard case .snapshot(let id, _)? = reader.next(now: .now) else { throw ServiceFixture.Missing(what: "a snapshot") }
        return id
    }

    @Test("A returning reader gets missed ends and removals, and the live downloads")
    func away() async throws {
        let before = try await ServiceFixture()
        let known = try await before.end(of: try await before.add("size=10&seed=1").id)
        let paused = try await before.add("size=10&seed=2") { $0.startsPaused = true }
        let removed = try await before.end(of: try await before.add("size=10&seed=3").id)
        let left = try position(before)
        let ended = try await before.end(of: try await before.add("size=10&seed=4").id)
        try await before.service.remove(removed.id, deletingFile: true)
        _ = try await before.service.perform(.cancel, on: try await before.add("size=10&seed=5") { $0.startsPaused = true }.id)
        await before.service.shutdown()

        let after = try await ServiceFixture(continuing: before)
        let sent = sent(after, after: left)
        #expect(sent.contains("\(ended.id) completed"))
        #expect(sent.contains("\(removed.id) removed"))
        #expect(sent.contains("\(paused.id) paused"))
        #expect(sent.count { $0.hasSuffix("cancelled") } == 1)
        #expect(!sent.contains { $0.contains("\(known.id)") })
        #expect(sent.count == 4, "\(sent)")
        await after.service.shutdown()
    }

    @Test("An epoch is later than the one before, even after the clock was set back")
    func clockSetBack() async throws {
        let before = try await ServiceFixture()
        await before.service.shutdown()
        // As if the clock had been in the year 2100.
        let future: UInt64 = 4_102_444_800_000
        try SQLiteConnection(path: before.directory.path + "/data/pawl.sqlite").execute(
            "INSERT INTO event_history (epoch, sequence) VALUES (\(future), 0)")
        let middle = try await ServiceFixture(continuing: before)
        #expect(middle.service.events.epoch == future + 1)
        let left = try position(middle)
        let ended = try await middle.end(of: try await middle.add("size=10&seed=1").id)
        await middle.service.shutdown()
        let after = try await ServiceFixture(continuing: before)
        #expect(after.service.events.epoch == future + 2)
        #expect(sent(after, after: left) == ["\(ended.id) completed"])
        await after.service.shutdown()
    }

    @Test("Sends all ends in order, even more than the history holds")
    func many() async throws {
        let directory = try TemporaryDirectory()
        let store = try GroupCommitStore(DataDirectory(path: directory.path + "/data"))
        let records = (1...StoredEventHistory.recentChanges + 500).map { number in
            var record = sampleRecord(number, state: .cancelled)
            record.download.changeID = EventID(epoch: 1_000, sequence: UInt64(number))
            return record
        }
        try await store.write([.beginEpoch(1_000)] + records.map(StoreChange.save))
        await store.close()
        let fixture = try await ServiceFixture(directory: directory)
        let isWhole = sent(fixture, after: EventID(epoch: 1_000, sequence: 0)) == records.map { "\($0.id) cancelled" }
        #expect(isWhole)
        #expect(sent(fixture, after: EventID(epoch: 1_000, sequence: 4_595)) == ["\(records[4_595].id) cancelled"])
        await fixture.service.shutdown()
    }
}
