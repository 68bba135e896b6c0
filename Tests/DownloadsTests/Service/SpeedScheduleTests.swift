import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Speed schedule", .timeLimit(.minutes(3)))
struct SpeedScheduleTests {
    static func schedule(_ texts: [String]) throws -> SpeedSchedule {
        SpeedSchedule(try texts.map { try SpeedSchedule.Entry(parsing: $0) })
    }

    /// Summer time of Berlin in 2026: from 29 March, 1:00 UTC, to 25 October, 1:00 UTC.
    static func offsetOfBerlin(_ time: Timestamp) -> Int {
        let seconds = time.millisecondsSinceEpoch / 1000
        return (1_774_746_000..<1_792_890_000).contains(seconds) ? 7200 : 3600
    }

    @Test(
        "The first entry that covers the moment applies, by the local clock",
        arguments: [
            // 2026-01-05 is a Monday; Berlin is an hour ahead of UTC.
            (["mon-fri 08:00-18:00 1M"], "2026-01-05T06:59:59.999Z", nil),
            (["mon-fri 08:00-18:00 1M"], "2026-01-05T07:00:00.000Z", 1 << 20),
            (["mon-fri 08:00-18:00 1M"], "2026-01-05T16:59:59.999Z", 1 << 20),
            (["mon-fri 08:00-18:00 1M"], "2026-01-05T17:00:00.000Z", nil),
            (["mon-fri 08:00-18:00 1M"], "2026-01-09T12:00:00.000Z", 1 << 20),
            (["mon-fri 08:00-18:00 1M"], "2026-01-10T12:00:00.000Z", nil),
            (["mon 08:00-18:00 1M"], "2026-01-06T12:00:00.000Z", nil),
            (["mon,wed,FRI-sun 08:00-18:00 1M"], "2026-01-07T12:00:00.000Z", 1 << 20),
            (["mon,wed,FRI-sun 08:00-18:00 1M"], "2026-01-08T12:00:00.000Z", nil),
            (["mon,wed,FRI-sun 08:00-18:00 1M"], "2026-01-11T12:00:00.000Z", 1 << 20),
            // Over the end of the week.
            (["sat-mon 00:00-24:00 5"], "2026-01-04T23:30:00.000Z", 5),
            (["sat-mon 00:00-24:00 5"], "2026-01-05T23:30:00.000Z", nil),
            // Over midnight: Friday's entry continues into Saturday, Sunday's into Monday, and Thursday's does not
            // exist.
            (["fri 22:00-06:00 7"], "2026-01-09T21:00:00.000Z", 7), (["fri 22:00-06:00 7"], "2026-01-10T04:59:00.000Z", 7),
            (["fri 22:00-06:00 7"], "2026-01-10T05:00:00.000Z", nil), (["fri 22:00-06:00 7"], "2026-01-09T04:00:00.000Z", nil),
            (["sun 22:00-06:00 7"], "2026-01-12T04:00:00.000Z", 7), (["mon 22:00-00:00 7"], "2026-01-05T22:30:00.000Z", 7),
            (["mon 22:00-00:00 7"], "2026-01-05T23:00:00.000Z", nil),
            // The first of several; an unlimited entry is a limit as well.
            (["mon 12:00-13:00 0", "mon-sun 00:00-24:00 9"], "2026-01-05T11:30:00.000Z", 0),
            (["mon 12:00-13:00 0", "mon-sun 00:00-24:00 9"], "2026-01-05T12:00:00.000Z", 9),
            ([], "2026-01-05T12:00:00.000Z", nil),
            // Set forward: 2:00 to 3:00 is skipped on 29 March, a Sunday.
            (["sun 01:30-02:30 1k"], "2026-03-29T00:59:59.000Z", 1024), (["sun 01:30-02:30 1k"], "2026-03-29T01:00:00.000Z", nil),
            (["sun 02:00-03:00 1k"], "2026-03-29T00:59:59.000Z", nil), (["sun 02:00-03:00 1k"], "2026-03-29T01:00:00.000Z", nil),
            (["sun 03:00-04:00 1k"], "2026-03-29T01:00:00.000Z", 1024),
            // Set back: 2:00 to 3:00 comes twice on 25 October.
            (["sun 02:00-03:00 1k"], "2026-10-25T00:30:00.000Z", 1024),
            (["sun 02:00-03:00 1k"], "2026-10-25T01:30:00.000Z", 1024),
            (["sun 02:00-03:00 1k"], "2026-10-25T02:00:00.000Z", nil), (["sat 22:00-02:30 1k"], "2026-10-25T00:45:00.000Z", nil),
            (["sat 22:00-02:30 1k"], "2026-10-25T01:15:00.000Z", 1024),
            // The clock may be before 1970, too.
            (["wed 00:00-24:00 3"], "1969-12-31T12:00:00.500Z", 3),
        ] as [([String], String, Int64?)])
    func firstEntryHolds(texts: [String], moment: String, expected: Int64?) throws {
        let time = try #require(Timestamp(parsing: moment))
        #expect(try Self.schedule(texts).bytesPerSecond(at: time, offset: Self.offsetOfBerlin(time)) == expected)
        let settings = ServiceSettings(
            maxConcurrent: 1, maxPerHost: 1, segments: 1, speedLimit: 77, speedSchedule: try Self.schedule(texts))
        #expect(settings.speedLimit(at: time, offset: Self.offsetOfBerlin(time)) == expected ?? 77)
    }

    @Test(
        "The local time follows the machine's zone",
        arguments: [(0, nil), (-5 * 3600, 3), (14 * 3600, nil)] as [(Int, Int64?)])
    func offsetCounts(offset: Int, expected: Int64?) throws {
        let midnight = try #require(Timestamp(parsing: "2026-01-06T02:00:00.000Z"))
        #expect(try Self.schedule(["mon 00:00-24:00 3"]).bytesPerSecond(at: midnight, offset: offset) == expected)
    }

    @Test(
        "Refuses an invalid entry with the accepted form",
        arguments: [
            ("", "mon-fri 08:00-18:00 1M"), ("mon 08:00-18:00", "mon-fri 08:00-18:00 1M"), ("mon 08:00 - 18:00 1M", "mon-fri"),
            ("day 08:00-18:00 1M", "'day'"), ("mon- 08:00-18:00 1M", "'mon-'"), ("mon,,tue 08:00-18:00 1M", "'mon,,tue'"),
            ("mon-tue-wed 08:00-18:00 1M", "'mon-tue-wed'"), ("monday 08:00-18:00 1M", "'monday'"),
            ("1-5 08:00-18:00 1M", "'1-5'"),
            ("mon 08:00-08:00 1M", "'08:00-08:00'"), ("mon 08:00-24:01 1M", "'08:00-24:01'"),
            ("mon 24:00-08:00 1M", "'24:00-08:00'"),
            ("mon 8-18 1M", "'8-18'"), ("mon 08:60-18:00 1M", "'08:60-18:00'"), ("mon 08:00 1M", "'08:00'"),
            ("mon +8:00-18:00 1M", "'+8:00-18:00'"), ("mon 08:00-18:00 1X", "'1X'"), ("mon 08:00-18:00 -1", "'-1'"),
            ("mon 08:00-18:00 1M\nmon 08:00-18:00 1M", "mon-fri"), ("mon 08:00-18:00\n1M", "mon-fri"),
        ])
    func noEntryIsRefused(text: String, mention: String) {
        let error = #expect(throws: SpeedScheduleError.self) { try SpeedSchedule.Entry(parsing: text) }
        #expect(error?.description.contains(mention) == true, "\(error?.description ?? "")")
    }

    @Test("A given schedule overrides a stored one, and an invalid stored one has no effect")
    func precedence() throws {
        let kept = try Self.schedule(["mon 08:00-18:00 1M", "sat,sun 22:00-06:00 0"])
        var given = ServiceSettings(maxConcurrent: 8, maxPerHost: 4, segments: 4, speedLimit: 0)
        #expect(given.merged(withKept: ["speedSchedule": kept.keptText], explicit: []).settings.speedSchedule == kept)
        #expect(given.merged(withKept: ["speedSchedule": "soon"], explicit: []).settings.speedSchedule == SpeedSchedule())
        given.speedSchedule = try Self.schedule(["tue 08:00-18:00 2M"])
        let merged = given.merged(withKept: ["speedSchedule": kept.keptText], explicit: [], isScheduleExplicit: true)
        #expect(merged.settings.speedSchedule == given.speedSchedule)
        #expect(merged.changes.count == 1)
    }

    @Test("A schedule survives a restart, and so does an empty one")
    func keptOverRestarts() async throws {
        let fixture = try await ServiceFixture { $0.speedLimit = 5 }
        let always = try Self.schedule(["mon-sun 00:00-24:00 12345"])
        #expect(fixture.service.speedLimitInForce == 5)
        #expect(try await fixture.service.change([:], speedSchedule: always).speedSchedule == always)
        #expect(fixture.service.speedLimitInForce == 12_345)
        let again = try await fixture.crash(configure: { $0.speedLimit = 5 })
        #expect(await again.service.settings.speedSchedule == always)
        #expect(again.service.speedLimitInForce == 12_345)
        _ = try await again.service.change([:], speedSchedule: SpeedSchedule())
        #expect(again.service.speedLimitInForce == 5)
        let last = try await again.crash(starting: false)
        #expect(await last.service.settings.speedSchedule == SpeedSchedule())
        for each in [last, again, fixture] { await each.service.shutdown() }
    }
}
