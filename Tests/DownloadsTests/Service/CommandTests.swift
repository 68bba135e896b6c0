import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Commands on running downloads", .timeLimit(.minutes(3)))
struct CommandTests {
    /// An entity whose first transfer stops in the middle, so that commands arrive then.
    static let slow = "size=4000000&seed=3&fault=stall@1500000;times=1"

    @Test("A pause keeps the bytes, a resume continues from them, and the file is exact")
    func pauseAndResume() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add(Self.slow)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        let paused = try await fixture.service.perform(.pause, on: made.id)
        #expect(paused.state == .paused)
        #expect(paused.bytesReceived > 200_000 && paused.bytesReceived < 4_000_000)
        #expect(paused.bytesPerSecond == 0)
        #expect(try fixture.names(in: "incomplete") == [fixture.part(of: made.id).lastPathComponent])
        #expect(fixture.service.index.download(made.id)?.bytesReceived == paused.bytesReceived)

        #expect(try await fixture.service.perform(.pause, on: made.id).state == .paused)
        let resumed = try await fixture.service.perform(.resume, on: made.id)
        #expect(resumed.state == .queued || resumed.state == .downloading)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: Self.slow))
        #expect(fixture.requests().map(\.range) == [nil, range(continuing: paused.bytesReceived)])
        await fixture.service.shutdown()
    }

    @Test("Cancelling a running, paused or queued download removes its bytes and frees the slot")
    func cancel() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let first = try await fixture.add(Self.slow)
        let second = try await fixture.add("size=1000&seed=4")
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        #expect(fixture.service.index.download(second.id)?.state == .queued)
        #expect(try await fixture.service.perform(.cancel, on: first.id).state == .cancelled)
        #expect(try await fixture.end(of: second.id).state == .completed)
        #expect(try fixture.names(in: "incomplete") == [])

        let third = try await fixture.add("size=1000&seed=5") { $0.startsPaused = true }
        #expect(third.state == .paused)
        #expect(try await fixture.service.perform(.cancel, on: third.id).state == .cancelled)
        #expect(try await fixture.service.perform(.cancel, on: third.id).state == .cancelled)
        let again = try await fixture.service.perform(.retry, on: third.id)
        #expect(again.state != .cancelled)
        #expect(try await fixture.end(of: third.id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("Refuses commands that the state does not allow by name", arguments: DownloadCommand.allCases)
    func refused(_ command: DownloadCommand) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=6")
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        await #expect(throws: DownloadError.illegalTransition(from: .completed, command: command.rawValue)) {
            try await fixture.service.perform(command, on: made.id)
        }
        await fixture.service.shutdown()
    }

    @Test("A failed download keeps its valid bytes for resume, and drops them for retry")
    func failedThenResumed() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=300000&seed=8&fault=reset@100000;times=1,404;from=2;times=1"
        let made = try await fixture.add(query)
        let failed = try await fixture.end(of: made.id)
        #expect(failed.state == .failed)
        #expect(failed.error?.httpStatus == 404)
        #expect(failed.bytesReceived == 100_000)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.follow(made.id) { $0.state == .completed }
        #expect(try fixture.file(done, is: query))
        #expect(fixture.requests().last?.range == range(continuing: 100_000))
        await fixture.service.shutdown()
    }

    @Test("Removing a download removes its record, and its file on request")
    func remove() async throws {
        let fixture = try await ServiceFixture()
        let kept = try await fixture.end(of: fixture.add("size=1000&seed=9").id)
        let deleted = try await fixture.end(of: fixture.add("size=1000&seed=10").id)
        try await fixture.service.remove(kept.id, deletingFile: false)
        try await fixture.service.remove(deleted.id, deletingFile: true)
        #expect(fixture.service.index.download(kept.id) == nil)
        #expect(try fixture.names(in: "files") == [kept.filename])
        await #expect(throws: DownloadError.notFound) { try await fixture.service.remove(kept.id, deletingFile: false) }
        let running = try await fixture.add(Self.slow)
        let name = try await fixture.follow(running.id) { $0.bytesReceived > 0 }.filename
        let events = fixture.service.events.subscribe(scope: running.id, after: nil, interval: .seconds(60)) {}
        defer { events.cancel() }
        _ = events.next(now: .now)
        try await fixture.service.remove(running.id, deletingFile: false)
        #expect(try fixture.names(in: "incomplete") == [])
        var isToldRemoved = false
        while let event = events.next(now: .now) {
            if case .removed = event { isToldRemoved = true }
        }
        #expect(isToldRemoved)
        // Its name is free again.
        let again = try await fixture.add(Self.slow)
        #expect(try await fixture.end(of: again.id).filename == name)
        await fixture.service.shutdown()
    }

    @Test("Two downloads with similar URLs get different names")
    func collidingNames() async throws {
        let fixture = try await ServiceFixture()
        let first = try await fixture.end(of: fixture.add("size=1000&seed=11").id)
        let second = try await fixture.end(of: fixture.add("size=1000&seed=12").id)
        #expect(first.filename != second.filename)
        #expect(try fixture.file(first) != fixture.file(second))
        await fixture.service.shutdown()
    }

    @Test("A live or completed URL gets the existing download, a refusal or another one, as requested")
    func duplicates() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=1000&seed=13"
        let first = try await fixture.add(query)
        let second = try await fixture.add(query)
        #expect(first.id == second.id)
        await #expect(throws: DownloadError.duplicate(first.id)) { try await fixture.add(query) { $0.onDuplicate = .reject } }
        let third = try await fixture.add(query) { $0.onDuplicate = .new }
        #expect(third.id != first.id)
        // Many concurrent ones are still one.
        let ids = try await withThrowingTaskGroup(of: RecordID.self) { group in
            for _ in 0..<20 { group.addTask { try await fixture.add("size=1000&seed=14").id } }
            return try await group.reduce(into: Set<RecordID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        await fixture.service.shutdown()
    }

    @Test("Limits concurrent transfers in total and per host")
    func limits() async throws {
        let fixture = try await ServiceFixture {
            $0.maxConcurrent = 8
            $0.maxPerHost = 2
        }
        var ids: [RecordID] = []
        for seed in 20..<26 { ids.append(try await fixture.add("size=200000&seed=\(seed)&pace=2000000").id) }
        // A download with all bytes is being published, and holds no slot.
        let found = ids.compactMap { fixture.service.index.download($0) }
        #expect(found.count { $0.state == .downloading && $0.progress != 1 } <= 2)
        for id in ids { #expect(try await fixture.end(of: id).state == .completed) }
        await fixture.service.shutdown()
    }

    @Test("The guard refuses loopback if configured, at once for an address")
    func guarded() async throws {
        let fixture = try await ServiceFixture(allowsPrivate: false)
        await #expect(throws: DownloadError.self) { try await fixture.add("size=1000&seed=30") }
        #expect(fixture.requests().isEmpty)
        await fixture.service.shutdown()
    }

    @Test("A wrong checksum never publishes the file, a right one does")
    func checksum() async throws {
        let fixture = try await ServiceFixture()
        let expected = try #require(TestUpstream.content(of: "/entity?size=1000&seed=31")?.bytes)
        let right = try Checksum(parsing: "sha-256:" + SHA256.hexadecimal(of: expected))
        let wrong = try Checksum(parsing: "sha-256:" + String(repeating: "0", count: 64))
        let bad = try await fixture.end(of: fixture.add("size=1000&seed=31") { $0.checksum = wrong }.id)
        #expect(bad.state == .failed)
        #expect(bad.error?.code == .checksumMismatch)
        #expect(bad.attempts == 1)
        #expect(try fixture.names(in: "files") == [])
        let good = try await fixture.end(of: fixture.add("size=1000&seed=31") { $0.checksum = right }.id)
        #expect(good.state == .completed)
        await fixture.service.shutdown()
    }

    @Test("Checks a requested media type")
    func mediaType() async throws {
        let fixture = try await ServiceFixture()
        let bad = try await fixture.end(of: fixture.add("size=1000&seed=32&type=text/html") { $0.mediaType = "audio/*" }.id)
        #expect(bad.error?.code == .mediaTypeMismatch)
        let good = try await fixture.end(of: fixture.add("size=1000&seed=33&type=audio/wav") { $0.mediaType = "audio/*" }.id)
        #expect(good.state == .completed)
        #expect(good.mediaType == "audio/wav")
        await fixture.service.shutdown()
    }
}
