import Testing

@testable import HTTPCore

@Suite struct RangeTests {
    static func parts(_ pairs: (Int64, Int64)...) -> RangeSet.Outcome {
        .satisfiable(pairs.map { ByteRange(start: $0.0, length: $0.1) })
    }

    static let tenThousand: [(String, RangeSet.Outcome)] = [
        // RFC 9110 §14.1.2
        ("bytes=0-499", parts((0, 500))), ("bytes=500-999", parts((500, 500))), ("bytes=-500", parts((9500, 500))),
        ("bytes=9500-", parts((9500, 500))), ("bytes=0-0,-1", parts((0, 1), (9999, 1))),
        ("bytes= 0-999, 4500-5499, -1000", parts((0, 1000), (4500, 1000), (9000, 1000))),
        ("bytes=500-600,601-999", parts((500, 500))), ("bytes=500-700,601-999", parts((500, 500))),
        // Ends and beyond
        ("bytes=0-", parts((0, 10_000))), ("bytes=9999-", parts((9999, 1))), ("bytes=9999-9999", parts((9999, 1))),
        ("bytes=0-99999999", parts((0, 10_000))), ("bytes=-10000", parts((0, 10_000))), ("bytes=-99999999", parts((0, 10_000))),
        ("bytes=10000-", .unsatisfiable), ("bytes=10000-10001", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=10000-,-0", .unsatisfiable), ("bytes=10000-,0-0", parts((0, 1))),
        // Numbers beyond 64 bits
        ("bytes=0-99999999999999999999999", parts((0, 10_000))), ("bytes=-99999999999999999999999", parts((0, 10_000))),
        ("bytes=99999999999999999999999-", .unsatisfiable), ("bytes=9223372036854775807-9223372036854775807", .unsatisfiable),
        ("bytes=18446744073709551616-18446744073709551617", .unsatisfiable), ("bytes=0-9223372036854775807", parts((0, 10_000))),
        // Syntax
        ("BYTES=0-0", parts((0, 1))), ("bytes=0-0,,1-1,", parts((0, 2))), ("bytes=\t0-0\t,\t5-5", parts((0, 1), (5, 1))),
        ("", .ignore), ("bytes", .ignore), ("bytes=", .ignore), ("bytes=,", .ignore), ("bytes=-", .ignore), ("bytes=a-", .ignore),
        ("bytes=0-a", .ignore), ("bytes=--1", .ignore), ("bytes=1--2", .ignore), ("bytes=0", .ignore), ("bytes=5-4", .ignore),
        ("bytes=0-0,5-4", .ignore), ("bytes=+0-1", .ignore), ("bytes=0 - 1", .ignore), ("bytes=0- 1", .ignore),
        ("bytes =0-1", .ignore),
        ("bytes:0-1", .ignore), ("items=0-1", .ignore), ("=0-1", .ignore), ("bytes=0-1;5-6", .ignore), ("bytes=0x1-2", .ignore),
        ("bytes=1-2-3", .ignore), ("bytes=0-1,x", .ignore), ("bytes=\u{661}-", .ignore),
        // Coalescing and order
        ("bytes=5-9,0-1", parts((5, 5), (0, 2))), ("bytes=0-9,2-3", parts((0, 10))),
        ("bytes=50-59,0-9,55-70", parts((50, 21), (0, 10))),
        ("bytes=0-,-10", parts((0, 10_000))), ("bytes=10-19,0-9,30-39", parts((0, 20), (30, 10))),
        (
            "bytes=" + (0..<16).map { "\($0 * 10)-\($0 * 10)" }.joined(separator: ","),
            .satisfiable((0..<16).map { ByteRange(start: $0 * 10, length: 1) })
        ),
        ("bytes=" + (0..<17).map { "\($0 * 10)-\($0 * 10)" }.joined(separator: ","), .ignore),
        ("bytes=" + String(repeating: "0-,", count: 1000), .ignore),
    ]

    @Test("Reads ranges of ten thousand bytes", arguments: tenThousand)
    func rangesOfTenThousandBytes(value: String, outcome: RangeSet.Outcome) {
        #expect(RangeSet.resolve(value, length: 10_000) == outcome)
    }

    @Test(
        "An empty body has no ranges",
        arguments: [
            ("bytes=0-", RangeSet.Outcome.unsatisfiable), ("bytes=0-0", .unsatisfiable), ("bytes=-1", .ignore),
            ("bytes=-0", .unsatisfiable),
            ("bytes=0-0,-1", .ignore),
        ])
    func nothingHasNoRanges(value: String, outcome: RangeSet.Outcome) {
        #expect(RangeSet.resolve(value, length: 0) == outcome)
    }

    @Test("Accepts a negative length without a trap", arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
    func aNegativeLengthIsNoTrap(value: String) {
        #expect(RangeSet.resolve(value, length: -5) != Self.parts((0, 1)))
    }

    @Test("The largest representation has ranges")
    func theLargestRepresentationHasRanges() {
        #expect(RangeSet.resolve("bytes=0-", length: .max) == Self.parts((0, .max)))
        #expect(RangeSet.resolve("bytes=1-9223372036854775807,0-0", length: .max) == Self.parts((0, .max)))
        #expect(RangeSet.resolve("bytes=-1", length: .max) == Self.parts((.max - 1, 1)))
    }

    @Test("A range is always within bounds")
    func aRangeIsAlwaysWithinBounds() {
        #expect(ByteRange(start: -1, length: 0) == ByteRange(start: 0, length: 1))
        #expect(ByteRange(start: .max, length: .max).end == .max)
        #expect(ByteRange(start: 5, length: .max).end == .max)
    }

    static let contentRanges: [(String, start: Int64?, end: Int64?, total: Int64?)] = [
        ("bytes 42-1233/1234", 42, 1233, 1234), ("bytes 42-1233/*", 42, 1233, nil), ("bytes */1234", nil, nil, 1234),
        ("bytes 0-0/1", 0, 0, 1),
        ("bytes */0", nil, nil, 0), ("bytes 0-9223372036854775806/9223372036854775807", 0, .max - 1, .max),
    ]

    @Test("A content range survives a round trip", arguments: contentRanges)
    func aContentRangeIsPrintedAsItIsRead(text: String, start: Int64?, end: Int64?, total: Int64?) throws {
        let range = try #require(ContentRange(parsing: text))
        #expect(range.start == start)
        #expect(range.end == end)
        #expect(range.total == total)
        #expect(range.description == text)
        #expect(range.start == start)
        #expect(range.end == end)
        #expect(ContentRange(parsing: " BYTES" + text.dropFirst(5) + " ") == range)
    }

    @Test(
        "Refuses invalid content ranges",
        arguments: [
            "", "bytes", "bytes ", "bytes 0-9", "bytes 0-9/", "bytes /10", "bytes -/10", "bytes 0-/10", "bytes -9/10",
            "bytes 9-0/10",
            "bytes 0-10/10",
            "bytes */*", "bytes=0-9/10", "items 0-9/10", "bytes 0-9/9", "bytes 0-9/10/10", "bytes a-9/10", "bytes 0-9/0x10",
            "bytes  0-9/10",
            "bytes 0-9/99999999999999999999", "bytes 99999999999999999999-99999999999999999999/*",
            "bytes 0-9223372036854775807/*",
            "0-9/10", "/bytes 0-9",
        ])
    func invalidContentRangesAreRefused(text: String) {
        #expect(ContentRange(parsing: text) == nil)
    }

    @Test("Makes a content range from a range")
    func aContentRangeIsMadeOfARange() {
        #expect(ContentRange(ByteRange(start: 10, length: 5), total: 100).description == "bytes 10-14/100")
        #expect(ContentRange(ByteRange(start: 0, length: 1), total: nil).description == "bytes 0-0/*")
        #expect(ContentRange(unsatisfiedOf: 7).description == "bytes */7")
    }
}
