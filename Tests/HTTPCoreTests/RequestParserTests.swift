import Testing

@testable import HTTPCore

@Suite struct RequestParserTests {
    @Test("Reads a small GET")
    func aSmallGetIsRead() throws {
        let head = try head("GET /a/b?x=1 HTTP/1.1\r\nHost: example.org:8080\r\nAccept: */*\r\n\r\n")
        #expect(head.method == .get)
        #expect(head.target.rawPath.elementsEqual("/a/b".utf8))
        #expect(head.target.rawQuery?.elementsEqual("x=1".utf8) == true)
        #expect(head.version == .http11)
        #expect(head.fields[.host] == "example.org:8080")
        #expect(head.fields[.accept] == "*/*")
        #expect(head.framing == .none)
        #expect(head.keepsAlive)
        #expect(!head.expectsContinue)
    }

    @Test(
        "Methods are case-sensitive tokens",
        arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "Get", "M-SEARCH"])
    func methodsAreCaseSensitiveTokens(name: String) throws {
        let head = try head("\(name) / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.method.name == name)
        #expect(head.method == HTTPMethod(token: name))
        #expect((head.method == .get) == (name == "GET"))
    }

    @Test("Trims white space around values, but not inside")
    func valuesLoseTheWhiteSpaceAroundThemAndKeepTheirInside() throws {
        let head = try head("GET / HTTP/1.1\r\nHost:a\r\nX-One: \t a \t b \t \r\nX-Two:\r\nX-Three: \t \r\n\r\n")
        #expect(head.fields[FieldName(constant: "x-one")] == "a \t b")
        #expect(head.fields[FieldName(constant: "x-two")]?.isEmpty == true)
        #expect(head.fields[FieldName(constant: "x-three")]?.isEmpty == true)
        #expect(head.fields.count == 4)
    }

    @Test("Reads bytes beyond ASCII as UTF-8, otherwise as ISO-8859-1")
    func bytesBeyondASCIIAreReadAsUTF8OrElseAsLatin1() throws {
        let name = FieldName(constant: "X-Text")
        let utf8 = try head(bytes: Array("GET / HTTP/1.1\r\nHost: a\r\nX-Text: Beyoncé\r\n\r\n".utf8))
        #expect(utf8.fields[name] == "Beyoncé")
        let latin1 = try head(bytes: Array("GET / HTTP/1.1\r\nHost: a\r\nX-Text: Beyonc".utf8) + [0xE9, 13, 10, 13, 10])
        #expect(latin1.fields[name] == "Beyoncé")
    }

    // MARK: Refusals

    static let refusals: [(String, Int)] = [
        // Request line
        ("GET\r\n", 400), ("GET \r\n", 400), ("GET /\r\n", 400), ("GET / \r\n", 400),
        (" GET / HTTP/1.1\r\n", 400), ("GET  / HTTP/1.1\r\n", 400), ("GET /  HTTP/1.1\r\n", 400),
        ("GET\t/ HTTP/1.1\r\n", 400), ("GET /\tHTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400),
        ("GET /a b HTTP/1.1\r\n", 400), ("G@T / HTTP/1.1\r\n", 400), ("G\u{0}T / HTTP/1.1\r\n", 400),
        ("\u{16}\u{3}\u{1}", 400), ("GET / http/1.1\r\n", 400), ("GET / HTTP/1,1\r\n", 400),
        ("GET / HTTP/11\r\n", 400), ("GET / HTTP/1.\r\n", 400), ("GET / HTTP/1.10\r\n", 400), ("GET / HTTP/10.1\r\n", 400),
        ("GET / HTTPS/1.1\r\n", 400), ("GET / HTTP/+1.1\r\n", 400), ("GET / HTTP/1.1\n", 400), ("GET / HTTP/1.1\rX", 400),
        ("GET /\n", 400), ("GET\n", 400), ("\n", 400), ("\rG", 400), ("\r\n\r\n\r\n", 400), ("\r\n\n", 400),
        ("GET / HTTP/2.0\r\n", 505), ("GET / HTTP/0.9\r\n", 505), ("GET / HTTP/3.1\r\n", 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        // Targets
        ("GET * HTTP/1.1\r\n", 400), ("GET a HTTP/1.1\r\n", 400), ("GET ?a HTTP/1.1\r\n", 400),
        ("GET ** HTTP/1.1\r\n", 400), ("OPTIONS *a HTTP/1.1\r\n", 400), ("OPTIONS *?a HTTP/1.1\r\n", 400),
        ("GET /#a HTTP/1.1\r\n", 400), ("GET /\u{e9}# HTTP/1.1\r\n", 400), ("GET /\u{7f} HTTP/1.1\r\n", 400),
        ("GET \"/a HTTP/1.1\r\n", 400), ("GET /<a> HTTP/1.1\r\n", 400), ("GET /\u{0} HTTP/1.1\r\n", 400),
        ("GET example.org HTTP/1.1\r\n", 400), ("GET example.org:80 HTTP/1.1\r\n", 400),
        ("GET ftp://a/ HTTP/1.1\r\n", 400), ("GET http:/a HTTP/1.1\r\n", 400), ("GET http:///a HTTP/1.1\r\n", 400),
        ("GET http:// HTTP/1.1\r\n", 400), ("GET http://u@a/ HTTP/1.1\r\n", 400), ("GET http://u:p@a/ HTTP/1.1\r\n", 400),
        ("GET http://a:b/ HTTP/1.1\r\n", 400), ("GET http://a:65536/ HTTP/1.1\r\n", 400), ("GET http://[::1/ HTTP/1.1\r\n", 400),
        ("GET http://a%zz/ HTTP/1.1\r\n", 400), ("GET file:///etc/passwd HTTP/1.1\r\n", 400),
        ("GET https://a/ HTTP/1.1\r\n", 421), ("GET HTTPS://a/ HTTP/1.1\r\n", 421),
        ("CONNECT example.org:443 HTTP/1.1\r\n", 501), ("CONNECT / HTTP/1.1\r\n", 501),
    ]

    @Test("Refuses a bad request line", arguments: refusals)
    func aBadRequestLineIsRefused(line: String, status: Int) {
        // With valid bytes behind it, so that only the line can be wrong if it is complete.
        let rest = line.hasSuffix("\r\n") ? "Host: a\r\n\r\n" : ""
        #expect(failure(Array((line + rest).utf8))?.status.code == status)
    }

    static let badFields: [(String, Int)] = [
        ("X : a\r\n", 400), ("X\t: a\r\n", 400), ("X Y: a\r\n", 400), (" X: a\r\n", 400), ("\tX: a\r\n", 400), (": a\r\n", 400),
        ("X\r\n", 400), ("X", 0), ("X: a\r\n b\r\n", 400), ("X: a\r\n\tb\r\n", 400), ("X: a\r\n \r\n", 400),
        ("X: a\nY: b\r\n", 400), ("X: a\rY: b\r\n", 400), ("X: a\r\r\n", 400), ("X\n: a\r\n", 400), ("X\r: a\r\n", 400),
        ("X: a\u{0}b\r\n", 400), ("X: a\u{1}b\r\n", 400), ("X: a\u{7f}b\r\n", 400), ("X: a\u{b}b\r\n", 400),
        ("X: a\u{c}\r\n", 400),
        ("X(: a\r\n", 400), ("X\": a\r\n", 400), ("X[: a\r\n", 400), ("X/: a\r\n", 400), ("X@: a\r\n", 400), ("X{: a\r\n", 400),
        ("X\u{0}: a\r\n", 400), ("\u{e9}: a\r\n", 400), ("\n", 400), ("\r\r\n", 400), ("\rX: a\r\n", 400),
    ]

    @Test("Refuses a bad field line", arguments: badFields)
    func aBadFieldLineIsRefused(line: String, status: Int) {
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\(line)".utf8)
        #expect(failure(bytes)?.status.code == (status == 0 ? nil : status))
        // Also as the first line of the section.
        let first = Array("GET / HTTP/1.1\r\n\(line)".utf8)
        #expect(failure(first)?.status.code == (status == 0 ? nil : status))
    }

    static let hosts: [(String, Bool)] = [
        ("a", true), ("a.b", true), ("a:80", true), ("a:", true), ("a:0", true), ("a:65535", true), ("127.0.0.1:8080", true),
        ("[::1]", true), ("[::1]:80", true), ("[2001:db8::7]:", true), ("[::ffff:1.2.3.4]", true), ("a_b", true), ("a%41", true),
        ("xn--bcher-kva.example", true), ("1:2", true), ("a,b", false), ("[1:2:3:4:5:6:7:8]", true),
        ("[1:2:3:4:5:6:1.2.3.4]", true),
        ("", false), (":80", false), ("a:65536", false), ("a:99999999999999999999", false), ("a:+1", false), ("a:8o", false),
        ("a b", false), ("a/b", false), ("a?b", false), ("a#b", false), ("u@a", false), ("a:80:80", false), ("a\\b", false),
        ("[::1", false), ("::1", false), ("[]", false), ("[::1]a", false), ("[::1]:a", false), ("[1::2::3]", false),
        ("[1:2:3:4:5:6:7]", false), ("[1:2:3:4:5:6:7:8:9]", false), ("[12345::]", false), ("[::g]", false),
        ("[fe80::1%25eth0]", false),
        ("[::1.2.3]", false), ("[::256.1.1.1]", false), ("[:1:2:3:4:5:6:7]", false), ("[1:2:3:4:5:6:7:]", false),
        ("[v1.a]", false),
        ("a%4", false), ("a%", false), ("a%zz", false), ("\"a\"", false), ("<a>", false), ("b\u{fc}cher", false), ("a, b", false),
        ("[:::]", false), ("[::1:2:3:4:5:6:7:8]", false), ("[::1.2.3.4:5]", false),
    ]

    @Test("Host is a host and a port", arguments: hosts)
    func hostIsAHostAndAPort(host: String, isValid: Bool) {
        #expect((failure(Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)) == nil) == isValid)
        #expect((failure(Array("GET / HTTP/1.0\r\nHost: \(host)\r\n\r\n".utf8)) == nil) == isValid)
    }

    @Test("Requires exactly one Host")
    func hostIsThereOnce() {
        #expect(failure("GET / HTTP/1.1\r\n\r\n") == .invalidHost("the field is missing"))
        #expect(failure("GET / HTTP/1.2\r\n\r\n") == .invalidHost("the field is missing"))
        #expect(failure("GET http://a/ HTTP/1.1\r\n\r\n") == .invalidHost("the field is missing"))
        #expect(failure("GET / HTTP/1.0\r\n\r\n") == nil)
        #expect(failure("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == .invalidHost("the field is repeated"))
        #expect(failure("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n") == .invalidHost("the field is repeated"))
        #expect(failure("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n") == .invalidHost("the field is repeated"))
        #expect(failure("GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n")?.status == .badRequest)
    }

    @Test("An absolute form overrides Host")
    func anAbsoluteFormOverridesHost() throws {
        let request = try head("GET HTTP://Example.org:81/p?q HTTP/1.1\r\nA: b\r\nHost: other\r\nC: d\r\n\r\n")
        #expect(request.target.form == .absolute)
        #expect(request.fields[.host] == "Example.org:81")
        #expect(request.fields.values(.host).count == 1)
        #expect(request.fields[FieldName(constant: "C")] == "d")
        #expect(request.target.path == "/p")
        #expect(try request.target.queryItems() == [QueryItem(name: "q", value: "")])
        #expect(try head("GET http://a/ HTTP/1.0\r\n\r\n").fields[.host] == "a")
    }

    // MARK: Framing

    static let framings: [(String, String, BodyFraming)] = [
        ("1.1", "", .none), ("1.0", "", .none),
        ("1.1", "Content-Length: 0\r\n", .length(0)), ("1.1", "Content-Length: 5\r\n", .length(5)),
        ("1.0", "Content-Length: 5\r\n", .length(5)), ("1.1", "content-LENGTH:\t005 \r\n", .length(5)),
        ("1.1", "Content-Length: 9223372036854775807\r\n", .length(.max)),
        ("1.1", "Content-Length: \(String(repeating: "0", count: 100))7\r\n", .length(7)),
        ("1.1", "Transfer-Encoding: chunked\r\n", .chunked), ("1.1", "transfer-encoding:CHUNKED \t\r\n", .chunked),
        ("1.2", "Transfer-Encoding: chunked\r\n", .chunked),
    ]

    @Test("Reads the framing", arguments: framings)
    func theFramingIsRead(version: String, lines: String, framing: BodyFraming) throws {
        for method in ["GET", "POST", "DELETE", "FOO"] {
            #expect(try head("\(method) / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n").framing == framing)
        }
    }

    static let smuggling: [(String, String, Int)] = [
        ("1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
        ("1.1", "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", 400),
        ("1.1", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.0", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.1", "Content-Length: 5\r\nContent-Length: 6\r\n", 400), ("1.1", "Content-Length: 5\r\nContent-Length: 5\r\n", 400),
        ("1.1", "Content-Length: 5, 5\r\n", 400), ("1.1", "Content-Length: 5,\r\n", 400), ("1.1", "Content-Length: 5 5\r\n", 400),
        ("1.1", "Content-Length: +5\r\n", 400), ("1.1", "Content-Length: -5\r\n", 400), ("1.1", "Content-Length: -0\r\n", 400),
        ("1.1", "Content-Length: 0x5\r\n", 400), ("1.1", "Content-Length: 5a\r\n", 400), ("1.1", "Content-Length: a\r\n", 400),
        ("1.1", "Content-Length:\r\n", 400), ("1.1", "Content-Length: 1e3\r\n", 400), ("1.1", "Content-Length: 5.0\r\n", 400),
        ("1.1", "Content-Length: 1_0\r\n", 400), ("1.1", "Content-Length: \"5\"\r\n", 400),
        ("1.1", "Content-Length: \u{665}\r\n", 400),
        ("1.1", "Content-Length: 9223372036854775808\r\n", 400), ("1.1", "Content-Length: 18446744073709551621\r\n", 400),
        ("1.1", "Content-Length: 99999999999999999999999999999999\r\n", 400), ("1.1", "Content-Length : 5\r\n", 400),
        ("1.1", "Transfer-Encoding : chunked\r\n", 400), ("1.1", "Transfer-Encoding\r\n : chunked\r\n", 400),
        ("1.1", "Transfer-Encoding:\r\n chunked\r\n", 400), ("1.1", "Transfer-Encoding: chunked\u{b}\r\n", 400),
        ("1.1", "Transfer-Encoding: \u{b}chunked\r\n", 400), ("1.1", "Transfer-Encoding: chunked\u{0}\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked, chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400),
        ("1.1", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked, gzip\r\n", 400), ("1.1", "Transfer-Encoding: chunked;a=b\r\n", 400),
        ("1.1", "Transfer-Encoding: ,chunked\r\n", 400), ("1.1", "Transfer-Encoding: chunked,\r\n", 400),
        ("1.1", "Transfer-Encoding:\r\n", 400), ("1.1", "Transfer-Encoding: ,\r\n", 400),
        ("1.1", "Transfer-Encoding: \"chunked\"\r\n", 400), ("1.1", "Transfer-Encoding: 'chunked'\r\n", 400),
        ("1.1", "Transfer-Encoding: chunked chunked\r\n", 400), ("1.1", "Transfer-Encoding: xchunked\r\n", 400),
        ("1.1", "Transfer-Encoding: identity\r\n", 400), ("1.1", "Transfer-Encoding: gzip\r\n", 400),
        ("1.1", "Transfer-Encoding: gzip, chunked\r\n", 501), ("1.1", "Transfer-Encoding: identity, chunked\r\n", 501),
        ("1.1", "Transfer-Encoding: gzip;q=1, chunked\r\n", 501),
        ("1.0", "Transfer-Encoding: chunked\r\n", 400), ("1.0", "Transfer-Encoding: gzip\r\n", 400),
        ("1.0", "Transfer-Encoding: gzip, chunked\r\n", 400),
    ]

    @Test("Refuses ambiguous framing", arguments: smuggling)
    func framingThatCanBeReadInTwoWaysIsRefused(version: String, lines: String, status: Int) {
        #expect(failure(Array("POST / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n".utf8))?.status.code == status)
    }

    // MARK: Persistence and expectation

    static let persistence: [(String, String, Bool)] = [
        ("1.1", "", true), ("1.0", "", false), ("1.2", "", true),
        ("1.1", "Connection: close\r\n", false), ("1.1", "Connection: CLOSE\r\n", false),
        ("1.1", "Connection: keep-alive\r\n", true), ("1.0", "Connection: keep-alive\r\n", true),
        ("1.0", "Connection: Keep-Alive\r\n", true), ("1.0", "Connection: close\r\n", false),
        ("1.0", "Connection: keep-alive, close\r\n", false), ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.1", "Connection: te,  close \r\n", false), ("1.1", "Connection: te\r\nConnection: close\r\n", false),
        ("1.0", "Connection: te\r\nConnection: keep-alive\r\n", true), ("1.1", "Connection: closed\r\n", true),
        ("1.1", "Connection: close-not\r\n", true), ("1.0", "Connection:\r\n", false), ("1.1", "Connection: ,,\r\n", true),
        ("1.0", "Keep-Alive: timeout=5\r\n", false), ("1.1", "Connection: Upgrade\r\nUpgrade: h2c\r\n", true),
    ]

    @Test("Version and Connection decide persistence", arguments: persistence)
    func persistenceFollowsVersionAndConnection(version: String, lines: String, keepsAlive: Bool) throws {
        #expect(try head("GET / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n").keepsAlive == keepsAlive)
    }

    static let expectations: [(String, String, Bool?)] = [
        ("1.1", "Content-Length: 1\r\nExpect: 100-continue\r\n", true),
        ("1.1", "Content-Length: 1\r\nExpect: 100-Continue\r\n", true),
        ("1.1", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", true), ("1.1", "Expect: 100-continue\r\n", false),
        ("1.1", "Content-Length: 0\r\nExpect: 100-continue\r\n", false),
        ("1.0", "Content-Length: 1\r\nExpect: 100-continue\r\n", false),
        ("1.1", "Content-Length: 1\r\nExpect:\r\n", false), ("1.1", "Content-Length: 1\r\n", false),
        ("1.0", "Content-Length: 1\r\nExpect: magic\r\n", false), ("1.1", "Expect: magic\r\n", nil),
        ("1.1", "Expect: 100-continue, magic\r\n", nil), ("1.1", "Expect: 100-continue\r\nExpect: magic\r\n", nil),
        ("1.1", "Expect: 100-continue=1\r\n", nil), ("1.1", "Expect: 200-ok\r\n", nil),
    ]

    @Test("Accepts or refuses an expectation", arguments: expectations)
    func anExpectationIsMetOrRefused(version: String, lines: String, expectsContinue: Bool?) throws {
        let text = "POST / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n"
        if let expectsContinue {
            #expect(try head(text).expectsContinue == expectsContinue)
        } else {
            #expect(failure(Array(text.utf8))?.status == .expectationFailed)
        }
    }
}
