import HTTPCore
import Testing

@testable import DownloadCore

/// Returns the same number forever: all ones for the maximum jitter, zero for the minimum.
struct ConstantGenerator: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { value }

    static var most: ConstantGenerator { ConstantGenerator(value: .max) }
    static var least: ConstantGenerator { ConstantGenerator(value: 0) }
}

struct RetryPolicyTests {
    @Test(
        "The maximum delay doubles up to a minute, and the minimum is zero",
        arguments: [
            (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (8, 60), (100, 60), (.max, 60), (0, 1), (-1, 1),
        ])
    func longestDelayDoubles(_ fruitless: Int, _ seconds: Double) {
        let policy = RetryPolicy()
        var most = ConstantGenerator.most
        let longest = policy.delay(afterAttemptsWithoutProgress: fruitless, retryAfter: nil, using: &most)
        #expect(longest <= .seconds(seconds))
        #expect(longest > .seconds(seconds * 0.999))
        var least = ConstantGenerator.least
        #expect(policy.delay(afterAttemptsWithoutProgress: fruitless, retryAfter: nil, using: &least) == .zero)
    }

    @Test(
        "A delay is never less than the origin's Retry-After, up to a day",
        arguments: [
            (Duration.seconds(5), Duration.seconds(5)), (.zero, .zero), (.seconds(3_600), .seconds(3_600)),
            (.seconds(7_200), .seconds(7_200)), (.seconds(864_000), .seconds(86_400)),
        ])
    func delayHonoursOrigin(_ asked: Duration, _ expected: Duration) {
        var least = ConstantGenerator.least
        #expect(RetryPolicy().delay(afterAttemptsWithoutProgress: 1, retryAfter: asked, using: &least) == expected)
        var most = ConstantGenerator.most
        #expect(RetryPolicy().delay(afterAttemptsWithoutProgress: 7, retryAfter: .seconds(1), using: &most) > .seconds(59))
    }

    @Test(
        "Retry-After is seconds, or a date by the origin's clock",
        arguments: [
            ("120", nil, 120), ("0", nil, 0), ("99999999999999999999", nil, 1 << 32),
            ("Sat, 21 Nov 2026 10:00:30 GMT", nil, 30),
            ("Sat, 21 Nov 2026 10:00:30 GMT", "Sat, 21 Nov 2026 09:59:30 GMT", 60),
            ("Sat, 21 Nov 2026 10:00:30 GMT", "nonsense", 30),
            ("Sat, 21 Nov 2026 09:00:00 GMT", nil, 0),
            ("Saturday, 21-Nov-26 10:00:30 GMT", nil, 30),
            ("soon", nil, nil), ("", nil, nil), ("-5", nil, nil), ("1.5", nil, nil),
        ] as [(String, String?, Int64?)])
    func retryAfterIsSecondsOrDate(_ value: String, _ date: String?, _ seconds: Int64?) throws {
        let now = try #require(Timestamp(parsing: "2026-11-21T10:00:00.500Z"))
        #expect(RetryPolicy.delay(fromRetryAfter: value, date: date, now: now) == seconds.map { .seconds($0) })
    }

    @Test("Retries transient failures only")
    func onlyPassingFailuresAreRetried() {
        let retried = FailureCode.allCases.filter { RetryPolicy.retries($0) }
        #expect(Set(retried) == [.connectionFailed, .timedOut, .transferBroken, .unexpectedEmpty])
        let statuses = (100...999).filter { DownloadFailure(.httpStatus, "", httpStatus: $0).retryable }
        #expect(statuses == [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 527, 530])
    }

    @Test("A download fails after eight fruitless attempts in a row")
    func eightFruitlessAttemptsFail() {
        var budget = RetryBudget()
        var random = ConstantGenerator.least
        let broken = DownloadFailure(.connectionFailed, "no")
        for _ in 1...7 {
            #expect(
                budget.verdict(on: broken, bytesReceived: 0, policy: RetryPolicy(), using: &random) == .retry(after: .zero))
        }
        #expect(budget.verdict(on: broken, bytesReceived: 0, policy: RetryPolicy(), using: &random) == .fail)
    }

    @Test("New bytes restart the count, repeated ones do not")
    func newBytesResetCount() {
        var budget = RetryBudget(furthest: 100)
        var random = ConstantGenerator.least
        let broken = DownloadFailure(.transferBroken, "no")
        for (bytes, fruitless) in [(100, 1), (100, 2), (150, 1), (40, 2), (150, 3), (151, 1)] as [(Int64, Int)] {
            _ = budget.verdict(on: broken, bytesReceived: bytes, policy: RetryPolicy(), using: &random)
            #expect(budget.attemptsWithoutProgress == fruitless)
        }
    }

    @Test("A permanent failure is final at once")
    func permanentFailureIsFinal() {
        var budget = RetryBudget()
        var random = ConstantGenerator.least
        let verdict = budget.verdict(
            on: DownloadFailure(.tlsFailure, "no"), bytesReceived: 5, retryAfter: .seconds(1), policy: RetryPolicy(),
            using: &random)
        #expect(verdict == .fail)
    }
}
