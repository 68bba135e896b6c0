import JSON
import Testing

@testable import DownloadCore
@testable import DownloadTransfer

struct PatienceTests {
    private static let options = Patience.Limits(connect: .seconds(15), response: .seconds(60), stall: .seconds(30))

    @Test(
        "The client's limits take precedence over the service's, one by one; 0 is none",
        arguments: [
            (Timeouts(), options),
            (Timeouts(connect: 1), Patience.Limits(connect: .seconds(1), response: .seconds(60), stall: .seconds(30))),
            (Timeouts(response: 600), Patience.Limits(connect: .seconds(15), response: .seconds(600), stall: .seconds(30))),
            (Timeouts(stall: 2), Patience.Limits(connect: .seconds(15), response: .seconds(60), stall: .seconds(2))),
            (Timeouts(connect: 0, response: 0, stall: 0), Patience.Limits(connect: nil, response: nil, stall: nil)),
        ])
    func limits(chosen: Timeouts, limits: Patience.Limits) {
        #expect(Patience(Self.options, chosen: chosen).limits == limits)
    }

    /// A wait, and whether it is borne.
    struct Row: Sendable, CustomTestStringConvertible {
        var chosen = Timeouts()
        let hasHead: Bool
        let isResumable: Bool?
        var hasBytes = true
        var hasSubstitute = false
        let isBorne: Bool

        var testDescription: String {
            "\(hasHead ? "body" : "head"), resumable \(isResumable.map { "\($0)" } ?? "unknown"), bytes \(hasBytes), substitute \(hasSubstitute), \(chosen)"
        }
    }

    @Test(
        "A wait is borne where nothing can be resumed or taken over, and the client has not chosen its limit",
        arguments: [
            // A late head: no head has come yet, or one has shown what the origin can do.
            Row(hasHead: false, isResumable: nil, isBorne: true), Row(hasHead: false, isResumable: false, isBorne: true),
            Row(hasHead: false, isResumable: true, isBorne: false),
            // A late first byte, or a stall.
            Row(hasHead: true, isResumable: false, isBorne: true), Row(hasHead: true, isResumable: true, isBorne: false),
            // The first byte of the file.
            Row(hasHead: true, isResumable: true, hasBytes: false, isBorne: true),
            Row(hasHead: false, isResumable: true, hasBytes: false, isBorne: false),
            Row(chosen: Timeouts(stall: 30), hasHead: true, isResumable: true, hasBytes: false, isBorne: false),
            Row(hasHead: true, isResumable: true, hasBytes: false, hasSubstitute: true, isBorne: false),
            // Mirrors go on.
            Row(hasHead: false, isResumable: nil, hasSubstitute: true, isBorne: false),
            Row(hasHead: true, isResumable: false, hasSubstitute: true, isBorne: false),
            // Only the limit of the wait counts.
            Row(chosen: Timeouts(response: 60), hasHead: false, isResumable: nil, isBorne: false),
            Row(chosen: Timeouts(stall: 30), hasHead: false, isResumable: nil, isBorne: true),
            Row(chosen: Timeouts(connect: 15), hasHead: false, isResumable: false, isBorne: true),
            Row(chosen: Timeouts(stall: 30), hasHead: true, isResumable: false, isBorne: false),
            Row(chosen: Timeouts(stall: 0), hasHead: true, isResumable: false, isBorne: false),
            Row(chosen: Timeouts(connect: 15, response: 60), hasHead: true, isResumable: false, isBorne: true),
        ])
    func waits(row: Row) {
        let patience = Patience(Self.options, chosen: row.chosen)
        let wait = Patience.Wait(
            hasHead: row.hasHead, isResumable: row.isResumable, hasBytes: row.hasBytes, hasSubstitute: row.hasSubstitute)
        #expect(patience.extendedLimit(of: wait) == (row.isBorne ? .seconds(300) : nil))
    }

    @Test("Chosen limits survive a round trip; impossible ones are refused")
    func coding() {
        for timeouts in [Timeouts(), Timeouts(connect: 0), Timeouts(connect: 1, response: 86_400, stall: 3)] {
            #expect(Timeouts(json: timeouts.json) == timeouts)
        }
        for value in [["stall": -1], ["connect": 86_401], ["response": Int64.min]] as [[String: Int64]] {
            #expect(Timeouts(json: .object(value.map { .init(name: $0.key, value: .integer($0.value)) })) == nil)
        }
        #expect(Timeouts(json: .object([.init(name: "stall", value: .string("1"))])) == nil)
        #expect(Timeouts(json: .integer(3)) == nil)
    }
}
