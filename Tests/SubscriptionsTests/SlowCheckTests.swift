import DownloadCore
import Testing

@testable import Subscriptions

@Suite("Slow checks", .timeLimit(.minutes(1)))
struct SlowCheckTests {
    /// Checks in words: the second in which each began, `failed` if its last check failed, `stored` if its listing has arrived.
    @Test(
        "Above the limit, the listing of a failed one is ended, otherwise of the one that began first",
        arguments: [
            ([], 0, nil), (["3", "1"], 2, nil), (["3", "1", "2"], 2, 1), (["1", "3 failed", "2 failed"], 2, 2),
            (["1 stored", "2"], 1, 2), (["1 stored failed", "3", "2"], 1, 2), (["1 stored", "2 stored"], 1, nil),
        ] as [([String], Int, UInt128?)])
    func ending(checks: [String], limit: Int, expected: UInt128?) throws {
        let start = ContinuousClock.now
        let slow = try checks.map { text in
            let words = text.split(separator: " ")
            let second = try #require(words.first.flatMap { Int($0) })
            return SlowCheck(
                id: RecordID(value: UInt128(second)), begun: start + .seconds(second), hasFailed: words.contains("failed"),
                isListing: !words.contains("stored"))
        }
        #expect(SlowCheck.ending(of: slow, limit: limit)?.value == expected)
    }
}
