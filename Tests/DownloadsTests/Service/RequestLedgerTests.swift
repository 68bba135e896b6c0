import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("The ledger of requests")
struct RequestLedgerTests {
    /// The requests that have been resumed, each with its error.
    private let resumed = Locked<[String]>([])

    private func follow(_ request: RequestEnd?, _ name: String) {
        request?.whenDone { [resumed] error in
            let ending = error.map { $0 == .overloaded ? "overloaded" : "\($0)" } ?? "goes on"
            resumed.withLock { $0.append("\(name) \(ending)") }
        }
    }

    private func takeResumed() -> [String] {
        resumed.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }

    private func key(_ name: String, _ request: String = "a") -> RequestKey { RequestKey(name, request: Array(request.utf8)) }

    private func claim(_ key: RequestKey, _ ledger: inout RequestLedger) -> String {
        switch ledger.claim(key, now: Timestamp(millisecondsSinceEpoch: 0)) {
        case .claimed: "claimed"
        case .known(let record): "known \(record.outcomes.count)"
        case .isUnderWay: "under way"
        case .mismatch: "mismatch"
        }
    }

    private func remember(_ key: RequestKey, _ ledger: inout RequestLedger) {
        let record = IdempotencyRecord(
            key: key.name, digest: key.digest, outcomes: [.failure(Problem(.notFound, ""))],
            createdAt: Timestamp(millisecondsSinceEpoch: 0))
        #expect(ledger.remember(record, now: Timestamp(millisecondsSinceEpoch: 0)) == [])
    }

    @Test(
        "Requests that wait go on after a request, or fail if it has waited for the store in vain",
        arguments: [
            (nil, "goes on"), (.storeFailed("x"), "goes on"), (.shuttingDown, "goes on"), (.notFound, "goes on"),
            (.unconfirmed, "overloaded"), (.overloaded, "overloaded"),
        ] as [(DownloadError?, String)])
    func failures(_ failure: DownloadError?, _ expected: String) {
        var ledger = RequestLedger()
        #expect(ledger.begin(urls: ["u"], gids: []) == ["u"])
        follow(ledger.urls.end(of: "u"), "1")
        follow(ledger.urls.end(of: "u"), "2")
        ledger.end(urls: ["u"], gids: [], after: failure)
        #expect(takeResumed() == ["1 \(expected)", "2 \(expected)"])
        #expect(!ledger.urls.isUnderWay("u"))
    }

    /// Steps of requests with the key `k` or another: `claim`, `other` (claims `k` for another request), `join`,
    /// `remember`, `keep` (the claim), `forget`, `release`, `settle`, `fail` (releases after `unconfirmed`).
    @Test(
        "One request with a key is carried out, and the others get its outcomes",
        arguments: [
            ("claim claim", "claimed, under way"), ("claim other", "claimed, mismatch"),
            ("claim release claim", "claimed, claimed"), ("claim release other", "claimed, claimed"),
            ("claim remember release claim", "claimed, known 1"), ("claim remember release other", "claimed, mismatch"),
            ("claim remember claim", "claimed, under way"), ("claim remember forget release claim", "claimed, claimed"),
            ("claim join release", "claimed, 1 goes on"), ("claim join fail", "claimed, 1 overloaded"),
            ("claim join keep release claim", "claimed, under way"),
            ("claim join keep release settle claim", "claimed, 1 goes on, claimed"),
            ("claim keep fail remember settle claim", "claimed, known 1"), ("release claim", "claimed"),
        ])
    func keys(_ steps: String, _ expected: String) {
        var ledger = RequestLedger()
        var found: [String] = []
        for step in steps.split(separator: " ") {
            switch step {
            case "claim": found.append(claim(key("k"), &ledger))
            case "other": found.append(claim(key("k", "b"), &ledger))
            case "join":
                guard case .isUnderWay(let end) = ledger.claim(key("k"), now: Timestamp(millisecondsSinceEpoch: 0)) else {
                    continue
                }
                follow(end, "1")
            case "remember": remember(key("k"), &ledger)
            case "forget": ledger.forget(key("k"))
            case "keep": ledger.keepClaim(of: key("k"))
            case "release": ledger.release(key("k"), after: nil)
            case "fail": ledger.release(key("k"), after: .unconfirmed)
            default: ledger.settle(key("k"), after: nil)
            }
            found += takeResumed()
        }
        #expect(found.joined(separator: ", ") == expected)
    }

    @Test("A URL is pending for the first request alone, and gids until their downloads are durable")
    func pending() {
        var ledger = RequestLedger()
        #expect(ledger.begin(urls: ["a", "b"], gids: [DownloadGID(1)]) == ["a", "b"])
        #expect(ledger.begin(urls: ["b", "c"], gids: [DownloadGID(2)]) == ["c"])
        #expect(ledger.gids == [DownloadGID(1), DownloadGID(2)])
        ledger.end(urls: ["c"], gids: [DownloadGID(2)], after: nil)
        #expect(ledger.urls.isUnderWay("b") && !ledger.urls.isUnderWay("c"))
        #expect(ledger.gids == [DownloadGID(1)])
        ledger.end(urls: ["a", "b"], gids: [DownloadGID(1)], after: nil)
        #expect(!ledger.urls.isUnderWay("a") && ledger.gids == [])
    }

    @Test("A download that is being made durable keeps the last arrival that it gets")
    func arrivals() {
        func id(_ number: Int) -> DownloadID { DownloadID(value: UInt128(number)) }
        func rank(_ number: Int) -> QueueRank { QueueRank(priority: 0, arrival: id(number)) }
        var ledger = RequestLedger()
        for number in [10, 20, 30] { ledger.arrive(id(number), rank(number)) }
        let isArriving = ledger.reassign(QueuePlacement.Other(id: id(30), arrival: id(15), former: rank(30)))
        let isArrivingAgain = ledger.reassign(QueuePlacement.Other(id: id(30), arrival: id(12), former: rank(15)))
        let isOther = ledger.reassign(QueuePlacement.Other(id: id(40), arrival: id(1), former: rank(40)))
        #expect(isArriving && isArrivingAgain && !isOther)
        #expect((0..<3).map { ledger.arriving[$0].id } == [id(10), id(30), id(20)])
        #expect(ledger.leave(id(10), rank(10)) == nil)
        #expect(ledger.leave(id(30), rank(30)) == id(12))
        #expect(ledger.leave(id(20), rank(20)) == nil)
        #expect(ledger.arriving.count == 0)
    }
}
