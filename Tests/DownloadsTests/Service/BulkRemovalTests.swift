import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

/// Removals of ended downloads, for which no machines are made.
@Suite("Removals of many ended downloads", .timeLimit(.minutes(3)))
struct BulkRemovalTests {
    private static let everything = ListQuery(states: [.failed, .cancelled, .completed])

    /// Adds downloads that fail or are cancelled, and releases their machines.
    private static func addEnded(_ fixture: ServiceFixture) async throws -> [Download] {
        var ended: [Download] = []
        for seed in 0..<3 {
            let failed = try await fixture.add("size=1000&seed=\(seed)&fault=404") { $0.filename = "name.bin" }
            ended.append(try await fixture.end(of: failed.id))
            let paused = try await fixture.add("size=1000&seed=1\(seed)") { $0.startsPaused = true }
            ended.append(try await fixture.service.perform(.cancel, on: paused.id))
        }
        try await until { await fixture.service.machineCount == 0 }
        return ended
    }

    @Test("Removes records and releases names, in live and later events and after a restart")
    func removes() async throws {
        let fixture = try await ServiceFixture()
        let ended = try await Self.addEnded(fixture)
        let before = fixture.service.events.published
        #expect(try await fixture.service.removeAll(Self.everything, deletingFiles: true) == ended.count)
        #expect(fixture.service.index.page(ListQuery()).items.isEmpty)
        let removals = fixture.service.index.removals(after: before, atMost: 100)
        #expect(Set(removals.map(\.id)) == Set(ended.map(\.id)))
        #expect(fixture.service.events.published > before)
        let named = try await fixture.end(of: fixture.add("size=1000&seed=9") { $0.filename = "name.bin" }.id)
        #expect(named.filename == "name.bin")
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.page(ListQuery()).items.map(\.id) == [named.id])
        #expect(after.service.index.removals(after: before, atMost: 100).count == ended.count)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Keeps all downloads of a piece whose commit fails", arguments: [StoreError.full, .inputOutput("broken")])
    func failing(error: StoreError) async throws {
        let fixture = try await ServiceFixture()
        let ended = try await Self.addEnded(fixture)
        fixture.store.refuse(as: error) { $0.removes }
        await #expect(throws: DownloadError.self) {
            _ = try await fixture.service.removeAll(Self.everything, deletingFiles: false)
        }
        #expect(fixture.service.index.page(ListQuery()).items.count == ended.count)
        fixture.store.refuse(nil)
        #expect(try await fixture.service.removeAll(Self.everything, deletingFiles: false) == ended.count)
        // No event id stays reserved.
        let last = try await fixture.add("size=1000&seed=8") { $0.startsPaused = true }
        #expect(fixture.service.events.published >= (fixture.service.index.download(last.id)?.changeID ?? .none))
        await fixture.service.shutdown()
    }

    @Test("A command for a download that is being removed waits, and finds no download")
    func racing() async throws {
        let fixture = try await ServiceFixture()
        let ended = try await Self.addEnded(fixture)
        fixture.store.delay { $0.removes }
        let removal = Task { try await fixture.service.removeAll(Self.everything, deletingFiles: false) }
        let commit = try #require(try await fixture.store.delayed.wait { !$0.isEmpty }.first)
        let retry = Task { try await fixture.service.perform(.retry, on: ended[0].id) }
        #expect(fixture.service.index.page(ListQuery()).items.count == ended.count)
        commit.set(nil)
        #expect(try await removal.value == ended.count)
        await #expect(throws: DownloadError.notFound) { _ = try await retry.value }
        await fixture.service.shutdown()
    }
}
