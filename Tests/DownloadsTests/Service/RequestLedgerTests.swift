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

    private func reserve(_ key: RequestKey, _ ledger: inout RequestLedger) -> String {
        switch ledger.reserve(key, now: Timestamp(millisecondsSinceEpoch: 0)) {
        case .reserved: "reserved"
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

    /// Steps of requests with the key `k` or another: `reserve`, `other` (reserves `k` for another request), `join`,
    /// `remember`, `keep` (the reservation), `forget`, `release`, `settle`, `fail` (releases after `unconfirmed`).
    @Test(
        "One request with a key is carried out, and the others get its outcomes",
        arguments: [
            ("reserve reserve", "reserved, under way"), ("reserve other", "reserved, mismatch"),
            ("reserve release reserve", "reserved, reserved"), ("reserve release other", "reserved, reserved"),
            ("reserve remember release reserve", "reserved, known 1"), ("reserve remember release other", "reserved, mismatch"),
            ("reserve remember reserve", "reserved, under way"),
            ("reserve remember forget release reserve", "reserved, reserved"),
            ("reserve join release", "reserved, 1 goes on"), ("reserve join fail", "reserved, 1 overloaded"),
            ("reserve join keep release reserve", "reserved, under way"),
            ("reserve join keep release settle reserve", "reserved, 1 goes on, reserved"),
            ("reserve keep fail remember settle reserve", "reserved, known 1"), ("release reserve", "reserved"),
        ])
    func keys(_ steps: String, _ expected: String) {
        var ledger = RequestLedger()
        var found: [String] = []
        for step in steps.split(separator: " ") {
            switch step {
            case "reserve": found.append(reserve(key("k"), &ledger))
            case "other": found.append(reserve(key("k", "b"), &ledger))
            case "join":
                guard case .isUnderWay(let end) = ledger.reserve(key("k"), now: Timestamp(millisecondsSinceEpoch: 0)) else {
                    continue
                }
                follow(end, "1")
            case "remember": remember(key("k"), &ledger)
            case "forget": ledger.forget(key("k"))
            case "keep": ledger.keepReservation(of: key("k"))
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
        func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number)) }
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
