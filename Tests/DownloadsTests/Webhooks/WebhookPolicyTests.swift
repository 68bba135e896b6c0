import HTTPClient
import HTTPCore
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Decisions on webhooks")
struct WebhookPolicyTests {
    enum Kind: Equatable {
        case delivered, retry, abandon, interrupted
    }

    static let cases: [(result: Result<Int, ClientError>, attempts: Int, kind: Kind)] = [
        (.success(200), 1, .delivered), (.success(204), 12, .delivered), (.success(299), 99, .delivered),
        (.success(500), 1, .retry), (.success(503), 11, .retry), (.success(503), 12, .abandon), (.success(599), 1, .retry),
        (.success(408), 1, .retry), (.success(425), 1, .retry), (.success(429), 1, .retry), (.success(429), 12, .abandon),
        (.success(301), 1, .abandon), (.success(400), 1, .abandon), (.success(404), 1, .abandon), (.success(410), 1, .abandon),
        (.failure(.connectionFailed("x")), 1, .retry), (.failure(.connectionFailed("x")), 12, .abandon),
        (.failure(.timedOut("x")), 1, .retry), (.failure(.stalled), 1, .retry), (.failure(.transferBroken("x")), 1, .retry),
        (.failure(.tls("x")), 1, .retry), (.failure(.invalidResponse("x")), 1, .retry),
        (.failure(.destinationForbidden("x")), 1, .abandon), (.failure(.tooManyRedirects(status: 302)), 1, .abandon),
        (.failure(.bodyTooLarge(1)), 1, .abandon), (.failure(.invalidRequest("x")), 1, .abandon),
        (.failure(.cancelled), 1, .interrupted), (.failure(.stopped), 12, .interrupted),
    ]

    @Test("The result of an attempt decides", arguments: cases)
    func verdict(result: Result<Int, ClientError>, attempts: Int, kind: Kind) {
        var random = SystemRandom()
        let verdict = WebhookPolicy().verdict(on: result, attempts: attempts, using: &random)
        let found: Kind =
            switch verdict {
            case .delivered: .delivered
            case .retry(let delay, _): delay >= .zero && delay <= .seconds(900) ? .retry : .abandon
            case .abandon: .abandon
            case .interrupted: .interrupted
            }
        #expect(found == kind)
    }

    private func delivery(_ number: Int, host: String = "a.example") -> WebhookDelivery {
        WebhookDelivery(
            id: RecordID(value: UInt128(number)), url: "http://\(host)/hook", subject: nil, body: Array("{}".utf8),
            due: Timestamp(millisecondsSinceEpoch: 0))
    }

    @Test("Sends due messages up to the limits in total and per host")
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
        queue.remove(RecordID(value: 5))
        // A failed one waits again, and releases its room.
        #expect(add(delivery(1), after: 60))
        #expect(sent(after: 10) == [3])
        #expect(queue.nextDue == start + .seconds(60))
        queue.remove(RecordID(value: 2))
        queue.remove(RecordID(value: 3))
        #expect(sent(after: 61) == [4, 1])
        #expect(queue.count == 2)
    }

    @Test("A receiver that accepts messages gets more at once, until it does not")
    func pace() {
        let start = ContinuousClock.now
        var queue = WebhookQueue(limits: .init(concurrent: 20, perHost: 2, accepting: 4))
        for number in 1...30 { queue.add(delivery(number), due: start + .milliseconds(number)) }
        var attempts: [RecordID] = []
        func running(after outcome: WebhookQueue.Outcome?) -> Int {
            if let outcome, !attempts.isEmpty {
                let id = attempts.removeFirst()
                queue.note(id, outcome)
                queue.remove(id)
            }
            attempts += queue.startable(at: start + .seconds(1)).map(\.id)
            return attempts.count
        }
        let steps: [(WebhookQueue.Outcome?, Int)] = [
            (nil, 2), (.accepted, 3), (.accepted, 4), (.accepted, 4), (.refused, 3), (.refused, 2), (.accepted, 2),
            (.accepted, 3), (.silent, 2),
            (.silent, 2), (.accepted, 2), (.accepted, 2), (.accepted, 2), (.accepted, 3), (.accepted, 3),
        ]
        for (outcome, count) in steps { #expect(running(after: outcome) == count) }
    }

    @Test("Limits the number of kept messages")
    func bound() {
        var queue = WebhookQueue(limits: .init(kept: 2))
        func add(_ number: Int) -> Bool { queue.add(delivery(number), due: .now) }
        #expect(add(1))
        #expect(add(2))
        #expect(!add(3))
        #expect(add(2))
    }
}
