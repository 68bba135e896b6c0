import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadTransfer
@testable import Downloads

@Suite("Housekeeping and bulk commands", .timeLimit(.minutes(3)))
struct HousekeepingTests {
    private static let stalling = "size=4000000&seed=80&fault=stall@1000000"

    // MARK: - Waiting reasons

    @Test("A queued download shows whether it waits for a slot or for its host")
    func waitingReasons() async throws {
        let fixture = try await ServiceFixture {
            $0.maxConcurrent = 2
            $0.maxPerHost = 1
        }
        let first = try await fixture.add(Self.stalling)
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        let second = try await fixture.add("size=1000&seed=81")
        #expect(second.waitingFor != nil)
        #expect(fixture.service.index.download(second.id)?.waitingFor == .host)
        _ = try await fixture.service.change([.maxConcurrent: 1])
        #expect(fixture.service.index.download(second.id)?.waitingFor == .slot)
        #expect(fixture.service.index.download(first.id)?.waitingFor == nil)
        _ = try await fixture.service.perform(.cancel, on: first.id)
        #expect(try await fixture.end(of: second.id).waitingFor == nil)
        await fixture.service.shutdown()
    }

    @Test("The waiting reason is part of the version")
    func versions() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let made = try await fixture.add("size=1000&seed=82")
        let before = try #require(fixture.service.index.version(of: made.id))
        fixture.service.index.queue.set(QueueStatus.State(gate: .disk))
        #expect(fixture.service.index.version(of: made.id) != before)
        #expect(fixture.service.index.download(made.id)?.version == fixture.service.index.version(of: made.id))
        await fixture.service.shutdown()
    }

    @Test("A file waits while the disk has no room for it, smaller ones go on, and one too large for the disk fails")
    func room() async throws {
        let disk = SlowDisk()
        disk.gate.open()
        disk.size.withLock { $0 = 1 << 30 }
        disk.free.withLock { $0 = 6 << 20 }
        let fixture = try await ServiceFixture(disk: disk)
        let large = try await fixture.add("size=3000000&seed=86")
        try await until { fixture.service.index.download(large.id)?.waitingFor == .disk }
        #expect(fixture.service.index.download(large.id)?.error == nil)
        #expect(try await fixture.end(of: fixture.add("size=1000000&seed=87").id).state == .completed)
        let failed = try await fixture.end(of: fixture.add("size=1100000000&seed=88").id)
        #expect(failed.state == .failed && failed.error?.code == .insufficientStorage)
        // Waiting takes commands, and sends no request.
        _ = try await fixture.service.perform(.pause, on: large.id)
        let requests = fixture.requests().count
        _ = try await fixture.service.perform(.resume, on: large.id)
        try await until { fixture.requests().count == requests + 1 }
        try await until { fixture.service.index.download(large.id)?.waitingFor == .disk }
        disk.free.withLock { $0 = 8 << 20 }
        #expect(try await fixture.end(of: large.id).state == .completed)
        #expect(fixture.requests().count == requests + 2)
        await fixture.service.shutdown()
    }

    @Test("While the disk is full, the queue waits as a whole and without requests")
    func full() async throws {
        let disk = SlowDisk()
        disk.gate.open()
        disk.size.withLock { $0 = 1 << 30 }
        disk.free.withLock { $0 = 0 }
        let fixture = try await ServiceFixture(disk: disk) { $0.maxConcurrent = 1 }
        let made = try await fixture.add("size=70000&seed=89")
        try await until { fixture.service.index.download(made.id)?.waitingFor == .disk }
        try await fixture.addMany(20)
        #expect(fixture.service.index.count(of: .failed) == 0)
        disk.free.withLock { $0 = 100 << 20 }
        try await until { fixture.service.index.count(of: .completed) == 21 }
        await fixture.service.shutdown()
    }

    @Test("No download starts below the free space, and downloads continue when there is enough")
    func minFree() async throws {
        let disk = SlowDisk()
        disk.gate.open()
        disk.free.withLock { $0 = 999 }
        let fixture = try await ServiceFixture(disk: disk) { $0.minFree = 1000 }
        let made = try await fixture.add("size=1000&seed=83")
        #expect(made.state == .queued)
        #expect(fixture.service.index.download(made.id)?.waitingFor == .disk)
        #expect(fixture.requests().isEmpty)
        disk.free.withLock { $0 = 1000 }
        #expect(try await fixture.end(of: made.id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("Accepts a new download beyond the quota, which waits until something is removed")
    func quota() async throws {
        let fixture = try await ServiceFixture { $0.quota = 5000 }
        let first = try await fixture.add("size=5000&seed=84")
        _ = try await fixture.end(of: first.id)
        let second = try await fixture.add("size=1000&seed=85")
        #expect(second.state == .queued)
        #expect(fixture.service.index.download(second.id)?.waitingFor == .quota)
        try await fixture.service.remove(first.id, deletingFile: true)
        #expect(try await fixture.end(of: second.id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("The quota counts files without records, even of the last run, until they are deleted")
    func quotaOfStrays() async throws {
        let before = try await ServiceFixture { $0.quota = 5000 }
        let first = try await before.end(of: before.add("size=5000&seed=84").id)
        try await before.service.remove(first.id, deletingFile: false)
        let second = try await before.add("size=1000&seed=85")
        #expect(before.service.index.download(second.id)?.waitingFor == .quota)
        await before.service.shutdown()

        let after = try await ServiceFixture(continuing: before) { $0.quota = 5000 }
        #expect(after.service.index.download(second.id)?.waitingFor == .quota)
        try FileManager.default.removeItem(atPath: "\(after.directory.path)/data/files/\(try #require(first.filename))")
        #expect(try await after.end(of: second.id).state == .completed)
        await after.service.shutdown()
    }

    // MARK: - Bulk commands

    @Test("Removes exactly the matching downloads, with their files on request")
    func removeAll() async throws {
        let fixture = try await ServiceFixture()
        var made: [Download] = []
        for seed in 86..<89 {
            made.append(try await fixture.end(of: fixture.add("size=1000&seed=\(seed)") { $0.labels = ["l\(seed)"] }.id))
        }
        let live = try await fixture.add(Self.stalling)
        _ = try await fixture.follow(live.id) { $0.bytesReceived > 0 }
        let ended = try #require(made[1].endedAt)
        let early = ListQuery(endedBefore: ended)
        #expect(try await fixture.service.removeAll(early, deletingFiles: true) == made.count { ($0.endedAt ?? ended) < ended })
        #expect(fixture.service.index.download(made[1].id) != nil)
        #expect(fixture.service.index.download(live.id) != nil)
        #expect(try await fixture.service.removeAll(ListQuery(label: "l88"), deletingFiles: false) == 1)
        #expect(try fixture.names(in: "files").contains(try #require(made[2].filename)))
        #expect(try await fixture.service.removeAll(ListQuery(states: [.downloading]), deletingFiles: false) == 1)
        #expect(fixture.service.index.download(live.id) == nil)
        #expect(try fixture.names(in: "incomplete").isEmpty)
        #expect(try await fixture.service.removeAll(ListQuery(label: "l88"), deletingFiles: false) == 0)
        await fixture.service.shutdown()
    }

    @Test("Keeps a download that changed before its removal")
    func includes() {
        var download = Download(id: FilesFixture.id(1), url: "http://a.example/", createdAt: Timestamp(millisecondsSinceEpoch: 0))
        download.labels = ["a"]
        #expect(ListQuery(states: [.queued], label: "a").includes(download))
        #expect(!ListQuery(states: [.failed]).includes(download))
        #expect(!ListQuery(label: "b").includes(download))
        let before = Timestamp(millisecondsSinceEpoch: 10)
        #expect(!ListQuery(endedBefore: before).includes(download))
        download.endedAt = before
        #expect(!ListQuery(endedBefore: before).includes(download))
        download.endedAt = Timestamp(millisecondsSinceEpoch: 9)
        #expect(ListQuery(endedBefore: before).includes(download))
    }

    // MARK: - Expiry

    @Test("Removes ended downloads at their expiry, which they show", arguments: [true, false])
    func expiry(deletesFiles: Bool) async throws {
        let fixture = try await ServiceFixture {
            $0.retention.completed = .seconds(1)
            $0.retention.deletesFiles = deletesFiles
        }
        let query = "size=1000&seed=90"
        let done = try await fixture.end(of: fixture.add(query).id)
        #expect(done.expiresAt == done.endedAt?.advanced(by: .seconds(1)))
        let cancelled = try await fixture.service.perform(.cancel, on: fixture.add(Self.stalling).id)
        #expect(cancelled.expiresAt == nil)
        try await fixture.isRemoved(done.id)
        #expect(try fixture.names(in: "files").isEmpty == deletesFiles)
        #expect(fixture.service.index.download(cancelled.id) != nil)
        await fixture.service.shutdown()
    }

    @Test("The expiry counts from the end, over restarts and later changes")
    func expiryOverRestarts() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add(Self.stalling)
        let cancelled = try await fixture.service.perform(.cancel, on: made.id)
        #expect(cancelled.expiresAt == nil)
        var change = DownloadChange()
        change.labels = ["later"]
        let changed = try await fixture.service.change(made.id, change)
        #expect(changed.endedAt == cancelled.endedAt)
        let again = try await fixture.crash(starting: false, configure: { $0.retention.ended = .seconds(1000) })
        let kept = try #require(again.service.index.download(made.id))
        #expect(kept.endedAt == cancelled.endedAt)
        #expect(kept.expiresAt == cancelled.endedAt?.advanced(by: .seconds(1000)))
        let retried = try await again.service.perform(.retry, on: made.id)
        #expect(retried.endedAt == nil && retried.expiresAt == nil)
        await again.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Searches for expired downloads as often as their time requires")
    func intervals() {
        var retention = Retention()
        #expect(retention.interval == nil)
        retention.completed = .seconds(86_400)
        #expect(retention.interval == .seconds(60))
        retention.ended = .seconds(100)
        #expect(retention.interval == .seconds(10))
        retention.ended = .seconds(2)
        #expect(retention.interval == .seconds(1))
        let now = Timestamp(millisecondsSinceEpoch: 10_000)
        let queries = retention.expired(now: now)
        #expect(queries.map(\.states) == [[.completed], [.failed, .cancelled]])
        #expect(queries[1].endedBefore == Timestamp(millisecondsSinceEpoch: 8_001))
    }
}

extension ServiceFixture {
    /// Waits until a download is removed; the suite's time limit bounds the wait.
    fileprivate func isRemoved(_ id: RecordID) async throws {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = service.events.subscribe(scope: id, after: nil, interval: .seconds(1)) { waker.yield() }
        defer { subscription.cancel() }
        waker.yield()
        for await _ in wakes {
            while let event = subscription.next(now: .now) {
                if case .removed = event { return }
            }
        }
    }
}
