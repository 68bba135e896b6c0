import HTTPClient
import HTTPCore
import Testing

@testable import Downloads

@Suite("Deciding on webhooks")
struct WebhookPolicyTests {
    enum Kind: Equatable {
        case delivered, retry, giveUp, interrupted
    }

    static let cases: [(outcome: WebhookPolicy.Outcome, attempts: Int, kind: Kind)] = [
        (.answered(200), 1, .delivered), (.answered(204), 12, .delivered), (.answered(299), 99, .delivered),
        (.answered(500), 1, .retry), (.answered(503), 11, .retry), (.answered(503), 12, .giveUp), (.answered(599), 1, .retry),
        (.answered(408), 1, .retry), (.answered(425), 1, .retry), (.answered(429), 1, .retry), (.answered(429), 12, .giveUp),
        (.answered(301), 1, .giveUp), (.answered(400), 1, .giveUp), (.answered(404), 1, .giveUp), (.answered(410), 1, .giveUp),
        (.failed(.connectionFailed("x")), 1, .retry), (.failed(.connectionFailed("x")), 12, .giveUp),
        (.failed(.timedOut("x")), 1, .retry), (.failed(.stalled), 1, .retry), (.failed(.transferBroken("x")), 1, .retry),
        (.failed(.tls("x")), 1, .retry), (.failed(.invalidResponse("x")), 1, .retry),
        (.failed(.destinationForbidden("x")), 1, .giveUp), (.failed(.tooManyRedirects), 1, .giveUp),
        (.failed(.bodyTooLarge(1)), 1, .giveUp), (.failed(.invalidRequest("x")), 1, .giveUp),
        (.failed(.cancelled), 1, .interrupted), (.failed(.stopped), 12, .interrupted),
    ]

    @Test("an attempt's outcome decides", arguments: cases)
    func verdict(outcome: WebhookPolicy.Outcome, attempts: Int, kind: Kind) {
        var random = SystemRandom()
        let verdict = WebhookPolicy().verdict(on: outcome, attempts: attempts, using: &random)
        let found: Kind =
            switch verdict {
            case .delivered: .delivered
            case .retry(let delay, _): delay >= .zero && delay <= .seconds(900) ? .retry : .giveUp
            case .giveUp: .giveUp
            case .interrupted: .interrupted
            }
        #expect(found == kind)
    }

    private func delivery(_ number: Int, host: String = "a.example") -> WebhookDelivery {
        WebhookDelivery(
            id: DownloadID(value: UInt128(number)), downloadID: DownloadID(value: 1), url: "http://\(host)/hook", body: [],
            due: Timestamp(millisecondsSinceEpoch: 0))
    }

    @Test("what is due is sent, at most so many at once and to one host")
    func queue() {
        let start = ContinuousClock.now
        var queue = WebhookQueue(limits: .init(concurrent: 3, perHost: 2))
        func sent(after seconds: Int) -> [Int] { queue.startable(at: start + .seconds(seconds)).map { Int($0.id.value) } }
        func add(_ delivery: WebhookDelivery, after seconds: Int) -> Bool { queue.add(delivery, due: start + .seconds(seconds)) }
        for number in 1...4 { #expect(add(delivery(number), after: number)) }
        #expect(add(delivery(5, host: "b.example"), after: 9))
        #expect(queue.nextDue == start + .seconds(1))
        #expect(sent(after: 0) == [])
        #expect(sent(after: 4) == [1, 2])
        #expect(sent(after: 10) == [5])
        queue.remove(DownloadID(value: 5))
        // One that failed waits again, and gives its place away.
        #expect(add(delivery(1), after: 60))
        #expect(sent(after: 10) == [3])
        #expect(queue.nextDue == start + .seconds(60))
        queue.remove(DownloadID(value: 2))
        queue.remove(DownloadID(value: 3))
        #expect(sent(after: 61) == [4, 1])
        #expect(queue.count == 2)
    }

    @Test("more than so many are not kept")
    func bound() {
        var queue = WebhookQueue(limits: .init(kept: 2))
        func add(_ number: Int) -> Bool { queue.add(delivery(number), due: .now) }
        #expect(add(1))
        #expect(add(2))
        #expect(!add(3))
        #expect(add(2))
    }
}
