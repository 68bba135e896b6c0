import HTTPCore
import JSON
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
        #expect(RetryAfter.delay(value, date: date, now: now) == seconds.map { .seconds($0) })
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

    @Test(
        "A choice of none or one attempt never retries, and one for ever always does", arguments: [0, 1, 2, RetryChoice.forEver])
    func chosenAttempts(attempts: Int) {
        let policy = RetryPolicy().applying(RetryChoice(attempts: attempts))
        var budget = RetryBudget()
        var random = ConstantGenerator.least
        var failures = 0
        while failures < 100 {
            failures += 1
            let verdict = budget.verdict(
                on: DownloadFailure(.connectionFailed, "no"), bytesReceived: 0, policy: policy, using: &random)
            if verdict == .fail { break }
        }
        #expect(failures == min(max(attempts, 1), 100))
        #expect(budget.isLastAttempt(policy) == (attempts != RetryChoice.forEver))
    }

    @Test("Chosen statuses are retried, and no delay exceeds the chosen one")
    func chosenStatuses() {
        let policy = RetryPolicy().applying(RetryChoice(longestDelay: 3, statuses: [404]))
        #expect(policy.judging(DownloadFailure(.httpStatus, "no", httpStatus: 404)).retryable)
        #expect(!policy.judging(DownloadFailure(.httpStatus, "no", httpStatus: 403)).retryable)
        #expect(!policy.judging(DownloadFailure(.destinationForbidden, "no", httpStatus: 404)).retryable)
        #expect(policy.longestDelay(afterAttemptsWithoutProgress: 8) == .seconds(3))
        #expect(policy.maximumAttempts == 8)
    }

    @Test("A file that is not ready is waited for, at least a second at a time, unless nothing is retried")
    func unreadyFileIsWaitedFor() {
        var response = OriginResponse(status: 202)
        #expect(!DownloadFailure.refusal(response).retryable)
        response.retryAfter = "5"
        let failure = DownloadFailure.refusal(response)
        #expect(failure.retryable && failure.message.contains("not ready"))
        var random = ConstantGenerator.least
        var budget = RetryBudget()
        for asked in [0, 5, 30] as [Int64] {
            for _ in 1...10 {
                let verdict = budget.verdict(
                    on: failure, bytesReceived: 0, retryAfter: .seconds(asked), policy: RetryPolicy(), using: &random)
                #expect(verdict == .retry(after: .seconds(max(asked, 1))))
            }
        }
        let never = RetryPolicy().applying(RetryChoice(attempts: 0))
        #expect(budget.verdict(on: failure, bytesReceived: 0, policy: never, using: &random) == .fail)
    }

    @Test(
        "A choice survives a round trip, with null for ever",
        arguments: [
            (RetryChoice(), "{}"), (RetryChoice(attempts: 0), #"{"attempts":0}"#),
            (
                RetryChoice(attempts: RetryChoice.forEver, longestDelay: 60, statuses: []),
                #"{"attempts":null,"longestDelay":"60s","statuses":[]}"#
            ),
            (RetryChoice(attempts: 8, statuses: [404, 403]), #"{"attempts":8,"statuses":[404,403]}"#),
        ])
    func choiceSurvives(choice: RetryChoice, text: String) throws {
        #expect(String(decoding: choice.json.serialized(), as: UTF8.self) == text)
        #expect(try RetryChoice(json: JSONValue(parsing: Array(text.utf8))) == choice)
    }

    @Test(
        "Reads the ways in which a client may write a choice, and refuses others by their member",
        arguments: [
            (#"{"longestDelay":"90"}"#, nil), (#"{"longestDelay":"2m","attempts":3.0}"#, nil),
            (#"{"longestDelay":90}"#, "longestDelay"), (#"{"statuses":null}"#, nil),
            (#"{"longestDelay":null}"#, nil), ("8", ""), (#"{"attempts":-1}"#, "attempts"),
            (#"{"attempts":1000001}"#, "attempts"),
            (#"{"attempts":"8"}"#, "attempts"), (#"{"longestDelay":"0"}"#, "longestDelay"),
            (#"{"longestDelay":0}"#, "longestDelay"), (#"{"longestDelay":"2d"}"#, "longestDelay"),
            (#"{"statuses":404}"#, "statuses"),
            (#"{"statuses":[399]}"#, "statuses"), (#"{"statuses":["404"]}"#, "statuses"), (#"{"wait":1}"#, "wait"),
        ] as [(String, String?)])
    func writtenChoice(text: String, member: String?) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        do throws(RetryChoice.Fault) {
            _ = try RetryChoice(json: json)
            #expect(member == nil)
        } catch {
            #expect(error.member == member)
        }
    }

    @Test("What a choice leaves open is completed by the policy")
    func choiceIsCompleted() {
        let policy = RetryPolicy().applying(RetryChoice(longestDelay: 5))
        #expect(RetryChoice().completed(by: policy).isEmpty)
        let whole = RetryChoice(attempts: 3).completed(by: policy)
        #expect(whole == RetryChoice(attempts: 3, longestDelay: 5, statuses: []))
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
