import Testing

@testable import DemoUpstream

@Suite("Faults") struct FaultTests {
    @Test(
        "each fault of the table is read",
        arguments: [
            ("reset@65536", .reset(after: 65_536)), ("truncate@0", .truncate(after: 0)), ("stall@7", .stall(after: 7)),
            ("slow-head@250", .slowHead(milliseconds: 250)), ("change", .change), ("change-length", .changeLength),
            ("ignore-ranges", .ignoreRanges), ("ignore-if-range", .ignoreIfRange), ("wrong-range", .wrongRange),
            ("wrong-total", .wrongTotal), ("unasked-206", .unaskedPartial), ("multipart", .multipart),
            ("416", .unsatisfiable(.length)), ("416-complete", .unsatisfiable(.complete)),
            ("416-bare", .unsatisfiable(.nothing)), ("503", .fail(status: 503)),
            ("retry-after=3", .retryAfter(seconds: 3, asDate: false)),
            ("retry-after=date@3", .retryAfter(seconds: 3, asDate: true)), ("204", .empty(status: 204)),
            ("205", .empty(status: 205)), ("html", .html), ("gzip", .gzip), ("chunked", .chunked),
            ("chunked-no-end", .chunkedWithoutEnd), ("weak-etag", .weakTag), ("no-validator", .noValidator),
            ("redirect=http://a.example/b?c=d", .redirect(to: "http://a.example/b?c=d")), ("redirect-loop", .redirectLoop),
            ("redirectx3", .redirects(3)), ("expired-redirect", .expiredRedirect), ("one-connection", .oneConnection),
        ] as [(String, Fault.Kind)])
    func kinds(text: String, kind: Fault.Kind) throws {
        #expect(try Fault.parse(text).map(\.kind) == [kind])
    }

    @Test(
        "what is no fault is refused and named",
        arguments: [
            "reset", "reset@", "reset@-1", "reset@1e3", "reset@99999999999999999999", "503x", "503xx", "50x2", "99", "600", "200",
            "gzip;times", "gzip;times=-1", "gzip;from=0", "gzip;other=1", "unknown",
        ])
    func refused(text: String) {
        let error = #expect(throws: FaultError.self) { _ = try Fault.parse(text) }
        #expect(error?.message.contains(text) == true)
    }

    @Test(
        "a fault applies to the requests it is limited to",
        arguments: [
            ("gzip", [true, true, true, true]), ("gzip;times=2", [true, true, false, false]),
            ("gzip;from=3", [false, false, true, true]), ("gzip;from=2;times=2", [false, true, true, false]),
            ("gzip;times=0", [false, false, false, false]),
        ])
    func limits(text: String, expected: [Bool]) throws {
        let faults = try Fault.parse(text)
        #expect((1...4).map { ActiveFaults(faults, request: $0).has(.gzip) } == expected)
    }

    @Test(
        "an entity changes with each request from the second on, or as often as the limit says",
        arguments: [
            ("change", [1, 2, 3, 4]), ("change;times=1", [1, 2, 2, 2]), ("change;from=2", [1, 1, 2, 3]),
            ("change-length;times=2", [1, 2, 3, 3]), ("gzip", [1, 1, 1, 1]),
        ])
    func versions(text: String, expected: [Int]) throws {
        let faults = try Fault.parse(text)
        #expect((1...4).map { ActiveFaults(faults, request: $0).version } == expected)
    }

    @Test("several faults are in force together")
    func combined() throws {
        let faults = ActiveFaults(try Fault.parse("503x1,retry-after=2,reset@10;from=2"), request: 1)
        #expect(faults.failure == 503)
        #expect(faults.retryAfter?.seconds == 2)
        #expect(faults.cut == nil)
        let later = ActiveFaults(try Fault.parse("503x1,retry-after=2,reset@10;from=2"), request: 2)
        #expect(later.failure == nil)
        #expect(later.cut == BodyCut(after: 10, ending: .reset))
    }

    @Test("requests are counted for each target, and the oldest targets are forgotten when there are too many")
    func counters() {
        var counters = RequestCounters(capacity: 4)
        #expect(counters.count("a") == 1)
        #expect(counters.count("a") == 2)
        #expect(counters.count("b") == 1)
        for target in ["c", "d", "e"] { #expect(counters.count(target) == 1) }
        #expect(counters.count("e") == 2)
        #expect(counters.count("a") == 1)
    }
}
