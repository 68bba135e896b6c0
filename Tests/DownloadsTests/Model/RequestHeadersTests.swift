import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("Header fields of a download's requests")
struct RequestHeadersTests {
    @Test(
        "fields that the transfer sets are refused, in any case",
        arguments: [
            ("Host", RequestHeaders.Fault.belongsToConnection), ("content-length", .belongsToConnection),
            ("Transfer-Encoding", .belongsToConnection), ("Proxy-Authorization", .belongsToConnection),
            ("range", .belongsToResuming), ("If-Range", .belongsToResuming), ("If-None-Match", .belongsToResuming),
            ("ACCEPT-ENCODING", .belongsToResuming), (String(repeating: "x", count: 257), .longName),
        ])
    func reserved(name: String, fault: RequestHeaders.Fault) throws {
        let name = try #require(FieldName(name))
        var headers = RequestHeaders()
        #expect(RequestHeaders.fault(of: name) == fault)
        #expect(throws: fault) { try headers.append(name, "x") }
        #expect(throws: fault) { try headers.append(name, "x", joiningValues: true) }
        #expect(headers.isEmpty)
    }

    @Test(
        "values have a maximum length and no control characters but tabs",
        arguments: [
            ("", true), ("a\tü", true), ("a\r\nb", false), ("a\u{7F}", false), ("\0", false),
            (String(repeating: "x", count: 8192), true), (String(repeating: "x", count: 8193), false),
        ])
    func values(value: String, isAccepted: Bool) throws {
        var headers = RequestHeaders()
        let name = FieldName(constant: "X-A")
        if isAccepted {
            try headers.append(name, value)
            #expect(Array(headers) == [RequestHeader(name: "X-A", value: value)])
        } else {
            #expect(throws: RequestHeaders.Fault.badValue) { try headers.append(name, value) }
        }
    }

    @Test("a name occurs once; joined values keep the limit of one value")
    func repetitions() throws {
        var headers = RequestHeaders.of(["Cookie": "a=1", "X-A": "1"])
        #expect(throws: RequestHeaders.Fault.repeated) { try headers.append(FieldName(constant: "x-a"), "2") }
        try headers.append(FieldName(constant: "x-a"), "2", joiningValues: true)
        try headers.append(FieldName(constant: "cookie"), "b=2", joiningValues: true)
        let long = String(repeating: "x", count: 8190)
        #expect(throws: RequestHeaders.Fault.badValue) {
            try headers.append(FieldName(constant: "X-A"), long, joiningValues: true)
        }
        #expect(headers.map { "\($0.name): \($0.value)" } == ["Cookie: a=1; b=2", "X-A: 1, 2"])
    }

    @Test("there are at most 50 fields, and beside them the credentials of a URL")
    func count() throws {
        var headers = RequestHeaders()
        for number in 0..<50 { try headers.append(try #require(FieldName("X-\(number)")), "") }
        #expect(throws: RequestHeaders.Fault.tooMany) { try headers.append(FieldName(constant: "X-A"), "") }
        try headers.authorize("Basic x")
        #expect(throws: RequestHeaders.Fault.repeated) { try headers.authorize("Basic y") }
        #expect(headers.count == 51)
    }

    @Test("the description of a field hides its value")
    func secrets() {
        let headers = RequestHeaders.of(["X-Key": "s3cret"])
        #expect(!String(reflecting: headers).contains("s3cret"))
    }
}

extension RequestHeaders {
    /// Returns the headers of a test. Invalid fields are left out.
    static func of(_ fields: KeyValuePairs<String, String>) -> RequestHeaders {
        var headers = RequestHeaders()
        for (name, value) in fields { if let name = FieldName(name) { try? headers.append(name, value) } }
        return headers
    }
}
