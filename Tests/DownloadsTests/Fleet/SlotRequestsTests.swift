import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Requests for slots", .timeLimit(.minutes(1)))
struct SlotRequestsTests {
    private enum Step {
        /// Slots may be requested for this number of free ones; the request is made or not.
        case begin(Int, Bool)
        case noteFreeSlots
        case release(UInt128)
        /// The request has ended with this number of slots, `nil` for a failure; slots of these downloads do not count.
        case end(Int?, of: Int, void: Set<UInt128>)
    }

    private static let rows: [(String, [Step])] = [
        ("the first request is made at once", [.begin(2, true)]),
        ("no request is made without a free slot", [.begin(0, false), .begin(-1, false), .begin(1, true)]),
        ("one request is under way at a time", [.begin(2, true), .noteFreeSlots, .begin(2, false)]),
        (
            "a request that got less than it wanted is not repeated",
            [.begin(2, true), .end(1, of: 2, void: []), .begin(1, false)]
        ),
        (
            "it is repeated once more slots may be free",
            [.begin(2, true), .end(1, of: 2, void: []), .noteFreeSlots, .begin(1, true)]
        ),
        (
            "a change during a request leads to another one",
            [.begin(2, true), .noteFreeSlots, .end(0, of: 2, void: []), .begin(2, true)]
        ),
        ("a request that got all that it wanted is repeated", [.begin(2, true), .end(2, of: 2, void: []), .begin(1, true)]),
        ("a failed request is not repeated", [.begin(2, true), .end(nil, of: 2, void: []), .begin(2, false)]),
        (
            "the slot of a download that was released meanwhile does not count, and more are requested",
            [.begin(2, true), .release(7), .end(1, of: 2, void: [7]), .begin(2, true), .end(0, of: 2, void: [])]
        ),
        ("an earlier release does not matter", [.release(7), .begin(2, true), .end(1, of: 2, void: []), .begin(1, false)]),
        (
            "after a failure, the releases are forgotten",
            [
                .begin(1, true), .release(7), .end(nil, of: 1, void: [7]), .noteFreeSlots, .begin(1, true),
                .end(0, of: 1, void: []),
            ]
        ),
    ]

    @Test("Slots are requested when there may be some", arguments: rows.indices)
    func row(_ number: Int) {
        let (name, steps) = Self.rows[number]
        var requests = SlotRequests()
        for (offset, step) in steps.enumerated() {
            let place = Comment(rawValue: "\(name), step \(offset)")
            switch step {
            case .begin(let free, let isMade): #expect(requests.begin(free: free) == isMade, place)
            case .noteFreeSlots: requests.noteFreeSlots()
            case .release(let id): requests.noteRelease(of: RecordID(value: id))
            case .end(let granted, let requested, let void):
                #expect(requests.end(granted: granted, of: requested) == Set(void.map(RecordID.init(value:))), place)
            }
        }
    }
}
