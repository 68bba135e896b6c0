import HTTPCore
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("The clock for deletions")
struct ClockTrustTests {
    /// Seconds of uptime, the clock at that time, and the trusted time.
    struct Step {
        let uptime: Int64
        let wall: Int64
        let believed: Int64

        init(_ uptime: Int64, _ wall: Int64, _ believed: Int64) {
            (self.uptime, self.wall, self.believed) = (uptime, wall, believed)
        }
    }

    private static let year: Int64 = 365 * 86_400

    /// A description, the newest time of earlier runs, and the samples.
    static let cases: [(String, Int64?, [Step])] = [
        ("a clock that runs", 1_000, [Step(0, 1_010, 1_010), Step(10, 1_020, 1_020), Step(86_400, 87_410, 87_410)]),
        ("nothing to compare with", nil, [Step(0, year, year), Step(1, year + 1, year + 1)]),
        ("a small step forward", 1_000, [Step(0, 1_000, 1_000), Step(1, 1_060, 1_060)]),
        (
            "a jump that holds", 1_000,
            [
                Step(0, 1_000, 1_000), Step(10, year + 10, 1_010), Step(100, year + 100, 1_100), Step(309, year + 309, 1_309),
                Step(310, year + 310, year + 310), Step(311, year + 311, year + 311),
            ]
        ),
        (
            "a jump that is taken back", 1_000,
            [
                Step(0, 1_000, 1_000), Step(10, year + 10, 1_010), Step(20, 1_020, 1_020), Step(30, year + 30, 1_030),
                Step(329, year + 329, 1_329), Step(330, year + 330, year + 330),
            ]
        ),
        (
            "a jump after a jump", 1_000,
            [
                Step(0, 1_000, 1_000), Step(10, year, 1_010), Step(300, 3 * year, 1_300), Step(310, 3 * year + 10, 1_310),
                Step(600, 3 * year + 300, 3 * year + 300),
            ]
        ),
        (
            "set back, and forward again", year,
            [
                Step(0, year, year), Step(10, 1_000, 1_000), Step(20, 1_010, 1_010), Step(30, year, 1_020),
                Step(330, year + 300, year + 300),
            ]
        ),
        (
            "a start long after the newest record", 1_000,
            [Step(0, year, 1_000), Step(299, year + 299, 1_299), Step(300, year + 300, year + 300)]
        ),
        ("a start before the newest record", year, [Step(0, 1_000, 1_000), Step(10, 1_010, 1_010)]),
        // Both clocks count sleep and stopped processes.
        ("no look for long", 1_000, [Step(0, 1_000, 1_000), Step(year, 1_000 + year, 1_000 + year)]),
    ]

    @Test("A time ahead of the clock must hold first", arguments: cases)
    func table(name: String, lastKnown: Int64?, steps: [Step]) throws {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: seconds * 1_000) }
        let first = try #require(steps.first)
        var trust = ClockTrust(lastKnown: lastKnown.map(time), wall: time(first.wall), uptime: .seconds(first.uptime))
        for step in steps {
            let found = trust.time(wall: time(step.wall), uptime: .seconds(step.uptime))
            #expect(found == time(step.believed), "\(name), at \(step.uptime)")
            #expect(trust.isOnProbation == (step.believed != step.wall), "\(name), at \(step.uptime)")
        }
    }

    @Test("An origin's Retry-After is the maximum wait, whatever the clock shows")
    func retryHold() {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: seconds * 1_000) }
        let hold = RetryHold(.seconds(20), from: time(1_000_000))
        for (now, left) in [(1_000_000, 20), (1_000_005, 15), (1_000_020, 0), (2_000_000, 0), (999_999, 20), (0, 20)] {
            #expect(hold.remaining(at: time(Int64(now))) == .seconds(left))
        }
    }
}
