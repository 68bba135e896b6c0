import Testing

@testable import TestUpstream

@Suite("Faults") struct FaultTests {
    @Test(
        "Parses each fault of the table",
        arguments: [
            ("reset@65536", .reset, 65_536), ("truncate@0", .truncate, 0), ("stall@7", .stall, 7),
            ("slow-head@250", .slowHead, 250),
            ("change", .change, 0), ("change-length", .changeLength, 0), ("ignore-ranges", .ignoreRanges, 0),
            ("ignore-if-range", .ignoreIfRange, 0), ("wrong-range", .wrongRange, 0), ("wrong-total", .wrongTotal, 0),
            ("unasked-206", .unaskedPartial, 0), ("multipart", .multipart, 0), ("416", .unsatisfiable, 0),
            ("416-complete", .unsatisfiableComplete, 0), ("416-bare", .unsatisfiableBare, 0), ("503", .status, 503),
            ("retry-after=3", .retryAfter, 3), ("204", .status, 204), ("205", .status, 205), ("html", .html, 0),
            ("gzip", .gzip, 0),
            ("chunked", .chunked, 0), ("chunked-no-end", .chunkedWithoutEnd, 0), ("weak-etag", .weakTag, 0),
            ("no-validator", .noValidator, 0), ("redirect=http://a.example/b?c=d", .redirect, 0),
            ("redirect-loop", .redirectLoop, 0), ("redirectx3", .redirects, 3), ("one-connection", .oneConnection, 0),
        ] as [(String, Fault.Kind, Int64)])
    func kinds(text: String, kind: Fault.Kind, number: Int64) throws {
        let fault = try #require(try Fault.parse(text).first)
        #expect(fault.kind == kind)
        #expect(fault.number == number)
        #expect(fault.location == (kind == .redirect ? "http://a.example/b?c=d" : ""))
    }

    @Test(
        "Refuses and names an unknown fault",
        arguments: [
            "reset@", "reset@-1", "reset@1e3", "reset@99999999999999999999", "503x", "503xx", "50x2", "99", "600", "200",
            "gzip;times", "gzip;times=-1", "gzip;from=0", "gzip;other=1", "unknown", "status", "204x1", "reset", "redirectx",
        ])
    func refused(text: String) {
        let error = #expect(throws: FaultError.self) { _ = try Fault.parse(text) }
        #expect(error?.message.contains(text) == true)
    }

    @Test(
        "A fault applies to the requests of its limit",
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
        "An entity changes with each request after the first, or as often as the limit",
        arguments: [
            ("change", [1, 2, 3, 4]), ("change;times=1", [1, 2, 2, 2]), ("change;from=2", [1, 1, 2, 3]),
            ("change-length;times=2", [1, 2, 3, 3]), ("gzip", [1, 1, 1, 1]),
        ])
    func versions(text: String, expected: [Int]) throws {
        let faults = try Fault.parse(text)
        #expect((1...4).map { ActiveFaults(faults, request: $0).version } == expected)
    }

    @Test("Several faults apply together")
    func combined() throws {
        let faults = ActiveFaults(try Fault.parse("503x1,retry-after=2,reset@10;from=2"), request: 1)
        #expect(faults[.status]?.number == 503)
        #expect(faults[.retryAfter]?.number == 2)
        #expect(faults.cut == nil)
        let later = ActiveFaults(try Fault.parse("503x1,retry-after=2,reset@10;from=2"), request: 2)
        #expect(later[.status] == nil)
        #expect(later.cut == BodyCut(after: 10, ending: .reset))
    }
}
