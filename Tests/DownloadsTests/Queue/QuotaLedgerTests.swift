import Testing

@testable import DownloadCore

@Suite("Reservations under a quota")
struct QuotaLedgerTests {
    /// The events of a ledger.
    enum Step: Sendable {
        /// A download reserves bytes; whether the reservation is granted.
        case reserve(Int, Int64, having: Int64 = 0, granted: Bool)
        case release(Int)
        /// The bytes of everything without a reservation.
        case kept(Int64)
        case full(Bool)
        case exception(Int?)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var quota: Int64 = 10
        let steps: [Step]

        init(_ name: String, quota: Int64 = 10, _ steps: Step...) {
            (testDescription, self.quota, self.steps) = (name, quota, steps)
        }
    }

    static let rows = [
        Row("no quota", quota: 0, .reserve(1, .max, granted: true), .reserve(2, .max, granted: true), .full(false)),
        Row("everything fits", .reserve(1, 4, granted: true), .reserve(2, 6, granted: true), .full(true), .exception(nil)),
        Row(
            "a batch: the last one goes beyond, and no other", .kept(6), .full(false), .reserve(1, 6, granted: true),
            .exception(1),
            .full(true), .reserve(2, 6, granted: false), .reserve(3, 1, granted: false), .reserve(4, 0, granted: false)),
        Row(
            "the one beyond ends, and its file stays", .kept(6), .reserve(1, 6, granted: true), .release(1), .kept(12),
            .full(true),
            .reserve(2, 1, granted: false), .exception(nil)),
        Row(
            "the one beyond is given up", .kept(6), .reserve(1, 6, granted: true), .release(1), .full(false),
            .reserve(2, 4, granted: true), .exception(nil)),
        Row(
            "something is deleted while one goes beyond", .kept(6), .reserve(1, 6, granted: true), .reserve(2, 3, granted: false),
            .kept(0), .full(false), .reserve(2, 3, granted: true), .exception(nil), .reserve(3, 9, granted: true), .exception(3),
            .reserve(4, 1, granted: false)),
        Row(
            "bodies of unknown length grow: one goes beyond, the other stops", .reserve(1, 0, granted: true),
            .reserve(2, 0, granted: true), .reserve(1, 5, granted: true), .reserve(2, 5, granted: true),
            .reserve(1, 6, granted: true),
            .exception(1), .reserve(2, 6, granted: false), .reserve(1, 60, granted: true), .reserve(2, 6, granted: false),
            .reserve(2, 5, granted: false)),
        Row(
            "a body of unknown length beside a file that goes beyond", .reserve(1, 3, granted: true),
            .reserve(2, 9, granted: true),
            .exception(2), .reserve(1, 4, granted: false), .release(1), .kept(3), .reserve(2, 9, granted: true)),
        Row(
            "begun before: it may go on, although with it the quota is full", .kept(9), .reserve(1, 8, having: 5, granted: true),
            .exception(1), .reserve(2, 8, having: 5, granted: false)),
        Row("begun before, and the rest fills the quota", .kept(10), .reserve(1, 8, having: 5, granted: false), .exception(nil)),
        Row(
            "a new version is larger", .kept(5), .reserve(1, 3, having: 2, granted: true), .reserve(1, 9, granted: true),
            .exception(1),
            .reserve(1, 4, granted: true), .exception(nil), .reserve(2, 1, granted: true)),
        Row(
            "lengths that nobody has", .reserve(1, .max, granted: true), .reserve(2, .max, granted: false),
            .reserve(3, -5, granted: false), .release(1), .reserve(3, -5, granted: true), .full(false)),
        Row(
            "records of another hand", .reserve(1, .max, granted: true), .kept(.max), .full(true), .reserve(2, 1, granted: false),
            .reserve(1, 1, granted: false)),
    ]

    @Test("Kept and reserved bytes stay within the quota, except for one download", arguments: rows)
    func table(row: Row) {
        var ledger = QuotaLedger(quota: row.quota)
        var kept: Int128 = 0
        for (number, step) in row.steps.enumerated() {
            switch step {
            case .reserve(let id, let bytes, let own, let granted):
                let result = ledger.reserve(bytes, for: Self.id(id), having: own, beside: kept)
                #expect(result == granted, "step \(number)")
            case .release(let id): ledger.release(Self.id(id))
            case .kept(let bytes): kept = Int128(bytes)
            case .full(let isFull): #expect(ledger.isFull(beside: kept) == isFull, "step \(number)")
            case .exception(let id): #expect(ledger.exception == id.map(Self.id), "step \(number)")
            }
        }
    }

    @Test("In any order, all but one stay within the quota", arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ledger = QuotaLedger(quota: 1000)
        /// Bytes of downloads that do not transfer.
        var kept: [Int: Int64] = [:]
        for _ in 0..<3000 {
            let id = Int(random.next() % 12)
            let isRunning = ledger.reservations[Self.id(id)] != nil
            let others = { (kept: [Int: Int64]) in Int128(kept.filter { $0.key != id }.values.reduce(0, +)) }
            switch random.next() % 6 {
            case 0, 1, 2:
                let own = isRunning ? 0 : kept[id] ?? 0
                let bytes = max(own, Int64(random.next() % 700))
                if ledger.reserve(bytes, for: Self.id(id), having: own, beside: others(kept)) { kept[id] = nil }
            case 3:
                guard isRunning, let reserved = ledger.reservations[Self.id(id)] else { continue }
                ledger.release(Self.id(id))
                kept[id] = reserved == 0 ? 0 : Int64(random.next() % UInt64(reserved + 1))
            case 4: if !isRunning { kept[id] = nil }
            default: break
            }
            let all = kept.values.map { $0 } + ledger.reservations.values
            let sum = all.reduce(0, +)
            if let exception = ledger.exception.flatMap({ ledger.reservations[$0] }) {
                #expect(sum - exception <= 1000)
            } else if !ledger.reservations.isEmpty {
                // Bytes beyond the quota are kept by now, or have ended.
                #expect(sum - (all.max() ?? 0) <= 1000)
            }
        }
    }

    private static func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number)) }
}
