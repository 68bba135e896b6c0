import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

/// The effects of a changed clock on downloads.
@Suite("Clocks that are set", .timeLimit(.minutes(3)))
struct ClockTests {
    /// A clock that a test sets.
    private final class SetClock: Sendable {
        private let offset = Locked<Int64>(0)

        func set(ahead seconds: Int64) { offset.withLock { $0 = seconds * 1_000 } }

        var read: @Sendable () -> Timestamp {
            { Timestamp(millisecondsSinceEpoch: Timestamp.now().millisecondsSinceEpoch + self.offset.withLock { $0 }) }
        }
    }

    private static let year: Int64 = 365 * 86_400

    /// Whether a time is the system's, within some minutes.
    private func isNow(_ time: Timestamp) -> Bool {
        abs(time.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch) < 600_000
    }

    @Test("A clock that was ahead leaves no trace in later downloads, even after a restart")
    func createdAt() async throws {
        let clock = SetClock()
        let before = try await ServiceFixture { $0.clock = clock.read }
        clock.set(ahead: Self.year)
        let ahead = try await before.add("size=10&seed=301")
        #expect(!isNow(ahead.createdAt))
        clock.set(ahead: 0)
        let second = try await before.add("size=10&seed=302")
        #expect(isNow(second.createdAt) && second.id > ahead.id)
        await before.service.shutdown()
        let after = try await ServiceFixture(continuing: before) { $0.clock = clock.read }
        let third = try await after.add("size=10&seed=303")
        #expect(isNow(third.createdAt) && third.id > second.id)
        #expect(after.service.index.download(second.id)?.createdAt == second.createdAt)
        await after.service.shutdown()
    }

    @Test(
        "After the clock is set back, no wait exceeds the origin's, resumed or after a restart",
        arguments: [3_600, Self.year], [false, true])
    func retryAfter(back: Int64, restarting: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            request.number == 0
                ? [.response(503, [("Retry-After", "2")])] : [.response(200, body: Array("whole".utf8))]
        }
        let clock = SetClock()
        var fixture = try await ServiceFixture { $0.clock = clock.read }
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        _ = try await fixture.follow(made.id) { $0.state == .retrying }
        if !restarting { _ = try await fixture.service.perform(.pause, on: made.id) }
        clock.set(ahead: -back)
        if restarting {
            await fixture.service.shutdown()
            fixture = try await ServiceFixture(continuing: fixture) { $0.clock = clock.read }
        } else {
            _ = try await fixture.service.perform(.resume, on: made.id)
        }
        let begun = ContinuousClock.now
        #expect(try await fixture.end(of: made.id).state == .completed)
        #expect(begun.duration(to: .now) < .seconds(20))
        await fixture.service.shutdown()
    }

    @Test("A forward jump of the clock expires no record before it has held, also after a restart")
    func retention() async throws {
        let clock = SetClock()
        let configure: @Sendable (inout DownloadsConfiguration) -> Void = {
            $0.clock = clock.read
            $0.retention.completed = .seconds(3_600)
            $0.retention.deletesFiles = true
        }
        let before = try await ServiceFixture(configure: configure)
        let made = try await before.end(of: before.add("size=10&seed=304").id)
        clock.set(ahead: Self.year)
        await before.service.removeExpired()
        #expect(before.service.index.download(made.id) != nil)
        // Its times are the wrong clock's.
        let wrong = try await before.end(of: before.add("size=10&seed=305").id)
        await before.service.shutdown()

        let second = try await ServiceFixture(continuing: before, configure: configure)
        await second.service.removeExpired()
        #expect(second.service.index.download(made.id) != nil)
        #expect(try second.names(in: "files").count == 2)
        await second.service.shutdown()

        let third = try await ServiceFixture(continuing: before) {
            configure(&$0)
            $0.clockProbation = .milliseconds(1)
        }
        try await until {
            await third.service.removeExpired()
            return third.service.index.download(made.id) == nil
        }
        #expect(third.service.index.download(wrong.id) != nil)
        #expect(try third.names(in: "files").count == 1)
        await third.service.shutdown()
    }

    @Test("A forward jump of the clock removes no Idempotency-Key before it has held")
    func idempotency() async throws {
        let clock = SetClock()
        let fixture = try await ServiceFixture { $0.clock = clock.read }
        let key = RequestKey("a", request: Array("a".utf8))
        #expect(try await fixture.service.reserve(key) == nil)
        let made = try await fixture.service.add(NewDownload(url: try fixture.url("size=10&seed=306")), key: key).download
        await fixture.service.release(key)
        clock.set(ahead: Self.year)
        let kept = try #require(try await fixture.service.reserve(key))
        #expect(kept.outcomes.compactMap { try? $0.get().download.id } == [made.id])
        await fixture.service.shutdown()
        let after = try await ServiceFixture(continuing: fixture) { $0.clock = clock.read }
        #expect(try await after.service.reserve(key) != nil)
        await after.service.shutdown()
    }
}
