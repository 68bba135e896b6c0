import DemoUpstream
import HTTPCore
import HTTPServer
import System
import Testing

@testable import TestUpstream

@Suite("Responses for entities") struct EntityResponseTests {
    private static let target = "/entity?size=1000&seed=a"
    private static let modified = "Sat, 01 Nov 2025 08:00:00 GMT"

    /// The response to a request for the target, after so many equal requests.
    private func response(
        _ query: String = "", faults: String = "", request: [(FieldName, String)] = [], method: HTTPMethod = .get, number: Int = 1
    ) throws -> Response {
        var fields = Fields()
        for (name, value) in request { fields.append(name, value) }
        let target = try RequestTarget(Self.target + query + "&fault=" + faults)
        let request = Request(head: RequestHead(method: method, target: target, fields: fields))
        let application = FaultyApplication()
        var response = Response()
        for _ in 1...number {
            response = Response()
            _ = application.respond(to: request, with: &response)
        }
        return response
    }

    private func body(_ response: Response) -> [UInt8]? {
        guard case .stream(let stream, let length) = response.content else { return nil }
        var bytes: [UInt8] = []
        while case .more = stream.next(into: &bytes, limit: 100_000, now: .now) {}
        #expect(length == Int64(bytes.count))
        return bytes
    }

    private var whole: [UInt8] { TestUpstream.content(of: Self.target)?.bytes ?? [] }

    @Test("Without faults, an entity has a strong tag and a date, and serves ranges")
    func plain() throws {
        let response = try response()
        #expect(response.status == .ok)
        #expect(response.fields[.lastModified] == Self.modified)
        #expect(response.fields[.acceptRanges] == "bytes")
        #expect(response.fields[.contentType] == "application/octet-stream")
        let tag = try #require(response.fields[.etag].flatMap { EntityTag(parsing: $0) })
        #expect(!tag.isWeak)
        #expect(whole.count == 1000)
        #expect(body(response) == whole)
    }

    @Test(
        "The response to a range is that range",
        arguments: [
            ("bytes=0-9", "bytes 0-9/1000", 0..<10), ("bytes=990-", "bytes 990-999/1000", 990..<1000),
            ("bytes=-5", "bytes 995-999/1000", 995..<1000), ("bytes=500-4000", "bytes 500-999/1000", 500..<1000),
        ] as [(String, String, Range<Int>)])
    func range(asked: String, said: String, range: Range<Int>) throws {
        let response = try response(request: [(.range, asked)])
        #expect(response.status == .partialContent)
        #expect(response.fields[.contentRange] == said)
        #expect(body(response) == Array(whole[range]))
    }

    @Test("If-Range decides between the range and the whole")
    func ifRange() throws {
        let tag = try #require(try response().fields[.etag])
        let cases = [(tag, 206), (Self.modified, 206), ("\"other\"", 200), ("W/" + tag, 200)]
        for (validator, status) in cases {
            let response = try response(request: [(.range, "bytes=10-"), (.ifRange, validator)])
            #expect(response.status.code == status, "\(validator)")
            let ignoring = try self.response(
                faults: "ignore-if-range", request: [(.range, "bytes=10-"), (.ifRange, validator)])
            #expect(ignoring.status == .partialContent, "\(validator)")
        }
    }

    @Test("The response to several ranges is the whole")
    func multipleRanges() throws {
        let response = try response(request: [(.range, "bytes=0-1,500-501")])
        #expect(response.status == .ok)
        #expect(response.fields[.contentRange] == nil)
        #expect(body(response) == whole)
    }

    @Test("With the fault for it, the response to one range is a multipart body")
    func multipart() throws {
        let response = try response(faults: "multipart", request: [(.range, "bytes=500-501")])
        #expect(response.status == .partialContent)
        #expect(response.fields[.contentRange] == nil)
        let boundary = try #require(response.fields[.contentType]?.split(separator: "boundary=").last)
        var expected = Array(
            "\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes 500-501/1000\r\n\r\n".utf8)
        expected += whole[500..<502]
        expected += "\r\n--\(boundary)--\r\n".utf8
        #expect(body(response) == expected)
    }

    @Test(
        "Each fault changes only its own part of the response",
        arguments: [
            ("ignore-ranges", "bytes=10-", 200, nil), ("wrong-range", "bytes=10-19", 206, "bytes 11-20/1000"),
            ("wrong-total", "bytes=10-19", 206, "bytes 10-19/1001"), ("unasked-206", nil, 206, "bytes 0-499/1000"),
            ("416", "bytes=10-", 416, "bytes */1000"), ("416-complete", "bytes=10-", 416, "bytes */10"),
            ("416-bare", "bytes=10-", 416, nil), ("416", nil, 200, nil), ("gzip", "bytes=10-", 200, nil),
            ("", "bytes=1000-", 416, "bytes */1000"),
        ] as [(String, String?, Int, String?)])
    func ranges(fault: String, range: String?, status: Int, contentRange: String?) throws {
        let response = try response(faults: fault, request: range.map { [(.range, $0)] } ?? [])
        #expect(response.status.code == status)
        #expect(response.fields[.contentRange] == contentRange)
        if fault == "ignore-ranges" { #expect(response.fields[.acceptRanges] == nil) }
        if fault == "gzip" { #expect(response.fields[.contentEncoding] == "gzip") }
        if fault.hasPrefix("wrong-") { #expect(body(response) == Array(whole[10..<20])) }
    }

    @Test(
        "Query and faults determine the validators",
        arguments: [
            ("&etag=abc", "", "\"abc\"", modified), ("&etag=none", "", nil, modified),
            ("&lastmodified=none&etag=abc", "", "\"abc\"", nil),
            ("&etag=abc", "weak-etag", "W/\"abc\"", modified), ("&etag=abc", "no-validator", nil, nil),
            ("&etag=abc", "gzip", "\"abc-gzip\"", modified),
        ] as [(String, String, String?, String?)])
    func validators(query: String, faults: String, tag: String?, date: String?) throws {
        let response = try response(query, faults: faults)
        #expect(response.fields[.etag] == tag)
        #expect(response.fields[.lastModified] == date)
    }

    @Test("A recent date is the response's")
    func recent() throws {
        let date = try #require(try response("&lastmodified=recent").fields[.lastModified].flatMap { HTTPDate(parsing: $0) })
        let now = SystemTime.sinceEpoch / 1_000_000_000
        #expect((now - 600...now).contains(date.secondsSinceEpoch))
    }

    @Test("A changed entity has other bytes, another tag and a later date; its length changes only with the fault for it")
    func change() throws {
        let first = try response(faults: "change", number: 1)
        let second = try response(faults: "change", number: 2)
        // A body can be read once.
        let changed = body(second)
        #expect(body(first) == whole)
        #expect(changed != whole && changed?.count == 1000)
        #expect(first.fields[.etag] != second.fields[.etag])
        #expect(second.fields[.lastModified] == "Sat, 01 Nov 2025 09:00:00 GMT")
        #expect(changed == TestUpstream.content(of: Self.target, version: 2)?.bytes)
        #expect(body(try response(faults: "change-length", number: 2))?.count == 5099)
    }

    @Test("Responds to conditional requests with 304 and 412")
    func conditions() throws {
        let tag = try #require(try response().fields[.etag])
        #expect(try response(request: [(.ifNoneMatch, tag)]).status == .notModified)
        #expect(body(try response(request: [(.ifNoneMatch, tag)])) == nil)
        #expect(try response(request: [(.ifModifiedSince, Self.modified)]).status == .notModified)
        #expect(try response(request: [(.ifMatch, "\"other\"")]).status == .preconditionFailed)
    }

    @Test("Sends the requested Content-Type and Content-Disposition")
    func fields() throws {
        let response = try response("&type=audio/mp4&disposition=attachment;%20filename=%22a.m4a%22")
        #expect(response.fields[.contentType] == "audio/mp4")
        #expect(response.fields[.contentDisposition] == "attachment; filename=\"a.m4a\"")
        #expect(try self.response("&type=none").fields[.contentType] == nil)
        #expect(try self.response("&ranges=none", request: [(.range, "bytes=1-")]).status == .ok)
    }

    @Test(
        "Refuses an unclear request with a sentence",
        arguments: [
            "/entity?size=1&pace=fast", "/entity?size=1&fault=odd", "/entity?size=%zz",
        ])
    func refused(target: String) {
        #expect(throws: FaultyTarget.Invalid.self) { _ = try FaultyTarget(try RequestTarget(target)) }
    }

    @Test("The path may contain faults, for clients that append a query")
    func faultyPath() throws {
        let target = try FaultyTarget(try RequestTarget("/faulty/503x2,retry-after=1/search?term=a&fault=gzip"))
        #expect(target.target.segments == ["search"])
        #expect(target.faults.map(\.kind) == [.status, .retryAfter, .gzip])
    }
}
