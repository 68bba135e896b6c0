import HTTPCore
import Testing

@testable import HTTPClient

/// The fields of one request: from the caller, the files and the cookies, and which of them come first.
@Suite struct HopFieldsTests {
    private static func credentials() throws -> OriginCredentials {
        var credentials = OriginCredentials()
        credentials.userAgent = "agent"
        credentials.netrc = try NetrcFile(
            parsing: Array("machine a.example login ada password one machine a.example login bob password two".utf8))
        credentials.cookies = try CookieFile(parsing: Array("a.example\tFALSE\t/\tFALSE\t0\tc\tfile".utf8))
        credentials.headers = try HeaderFile(
            parsing: Array(
                """
                # keys
                b.example  Authorization: LOW key:secret
                *.b.example Authorization: LOW sub
                *.example X-Key: suffix
                a.example X-Key: host
                a.example:8080 X-Key: port
                a.example:8080 Cookie: c=header
                """.utf8))
        return credentials
    }

    /// The fields of a hop as text, in the order of their names.
    private static func summary(
        _ address: String, _ fields: [(name: String, value: String)] = [], isForOrigin: Bool = true,
        _ change: (inout Hop) -> Void = { _ in }
    ) throws -> String {
        var request = ClientRequest(url: try url(address))
        request.fields = fields
        request.isForOrigin = isForOrigin
        var hop = Hop(request)
        change(&hop)
        let chosen = HopFields(of: hop, in: request, try credentials(), CookieJar(), now: 0)
        var lines = chosen.fields.map { "\($0.name): \($0.value)" }
        if let value = chosen.authorization {
            lines.append("Authorization: \(chosen.login.map { "\($0.user):\($0.password)" } ?? value)")
        }
        if let cookie = chosen.cookie { lines.append("Cookie: \(String(decoding: cookie, as: UTF8.self))") }
        return lines.sorted().joined(separator: ", ")
    }

    @Test(
        "The request's headers win, then user and password of the URL, the header file, and netrc",
        arguments: [
            ("http://a.example/", [], "Authorization: ada:one, Cookie: c=file, User-Agent: agent, X-Key: host"),
            (
                "http://a.example/",
                [("authorization", "Bearer b"), ("x-key", "mine"), ("User-Agent", "own"), ("cookie", "d=e")],
                "Authorization: Bearer b, Cookie: d=e, User-Agent: own, x-key: mine"
            ),
            ("http://u:p@a.example/", [], "Authorization: u:p, Cookie: c=file, User-Agent: agent, X-Key: host"),
            (
                "http://u:p@a.example/", [("Authorization", "x")],
                "Authorization: x, Cookie: c=file, User-Agent: agent, X-Key: host"
            ),
            // The URL names a user; netrc has the password.
            ("http://bob@a.example/", [], "Authorization: bob:two, Cookie: c=file, User-Agent: agent, X-Key: host"),
            ("http://eve@a.example/", [], "Authorization: eve:, Cookie: c=file, User-Agent: agent, X-Key: host"),
            ("http://a.example:8080/", [], "Authorization: ada:one, Cookie: c=header, User-Agent: agent, X-Key: port"),
            ("http://b.example/", [], "Authorization: LOW key:secret, User-Agent: agent, X-Key: suffix"),
            ("http://x.y.b.example/", [], "Authorization: LOW sub, User-Agent: agent, X-Key: suffix"),
            ("http://u:p@b.example/", [], "Authorization: u:p, User-Agent: agent, X-Key: suffix"),
            ("http://example/", [], "User-Agent: agent"), ("http://other.test/", [], "User-Agent: agent"),
        ] as [(String, [(name: String, value: String)], String)])
    func precedence(address: String, fields: [(name: String, value: String)], expected: String) throws {
        #expect(try Self.summary(address, fields) == expected)
    }

    @Test("At another host, only harmless fields of the caller are sent, and the files' for that host")
    func otherHost() throws {
        let fields = [
            ("Authorization", "Bearer b"), ("Cookie", "d=e"), ("X-Key", "mine"), ("Accept", "a/b"), ("Referer", "r"),
            ("Accept-Language", "de"), ("User-Agent", "own"),
        ]
        let harmless = "Accept-Language: de, Accept: a/b"
        let other = try url("http://b.example/")
        #expect(
            try Self.summary("http://u:p@a.example/", fields) {
                $0.url = other
                $0.trust.hasLeftOrigin = true
                $0.authorization = nil
            } == "\(harmless), Authorization: LOW key:secret, Referer: r, User-Agent: own, X-Key: suffix")
    }

    @Test("Nothing of the files is sent after a loss of encryption, or to what is no origin")
    func withoutFiles() throws {
        #expect(try Self.summary("http://a.example/") { $0.trust.hasLostEncryption = true } == "User-Agent: agent")
        #expect(try Self.summary("http://a.example/", isForOrigin: false).isEmpty)
        #expect(
            try Self.summary("http://u:p@a.example/", [("Cookie", "d=e")], isForOrigin: false)
                == "Authorization: u:p, Cookie: d=e")
    }

    @Test(
        "A pattern is a host, an address or a suffix, each with an optional port",
        arguments: [
            ("a.example X: 1", "http://a.example/", true), ("a.example X: 1", "http://x.a.example/", false),
            ("A.Example. X: 1", "http://a.example:81/", true), ("a.example:80 X: 1", "http://a.example:81/", false),
            ("*.a.example X: 1", "http://a.example/", false), ("*.a.example X: 1", "http://x.y.a.example/", true),
            ("*.a.example:81 X: 1", "http://x.a.example:81/", true), ("127.0.0.1 X: 1", "http://127.0.0.1:81/", true),
            ("127.0.0.1:81 X: 1", "http://127.0.0.1/", false), ("[::1]:81 X: 1", "http://[::1]:81/", true),
            ("::1\tX:1", "http://[::1]/", true),
        ])
    func patterns(line: String, address: String, isSent: Bool) throws {
        let file = try HeaderFile(parsing: Array("\r\n# x\r\n  \(line)  \r\n".utf8))
        let fields = file.fields(for: try url(address)).map { "\($0.name)=\($0.value)" }
        #expect(fields == (isSent ? ["X=1"] : []))
    }

    @Test(
        "Names the line of an error, and no word of it",
        arguments: [
            ("\na.example", 2, "HOST-PATTERN Name: value"), ("a.example s3cret", 1, "HOST-PATTERN Name: value"),
            ("a.example X Y: s3cret", 1, "HOST-PATTERN Name: value"), ("a.example X:", 1, "1 to 8192 bytes"),
            ("10.0.0.0/8 X: s3cret", 1, "the pattern is"), ("http://a/ X: s3cret", 1, "the pattern is"),
            ("X: s3cret y", 1, "the pattern is"), ("a.example X: s3\u{1}cret", 1, "control"),
            ("a X: s3cret\nb X: s3cret\na x: s3cret", 3, "line 1"),
        ])
    func faults(text: String, line: Int, reason: String) {
        do throws(CredentialFault) {
            _ = try HeaderFile(parsing: Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
            #expect(error.reason.contains(reason))
            #expect(!error.reason.contains("s3cret"))
        }
    }

    @Test(
        "Refuses fields of the connection and of resuming",
        arguments: [
            "Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Upgrade", "Expect", "Proxy-Authorization",
            "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Accept-Encoding",
            "Content-Type", "Content-Encoding",
        ])
    func reserved(name: String) {
        #expect(throws: CredentialFault.self) { try HeaderFile(parsing: Array("a.example \(name): x".utf8)) }
    }

    @Test("Descriptions of credentials hide them")
    func hidden() throws {
        let credentials = try Self.credentials()
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])"] {
            #expect(text.contains("credentials (hidden)"))
            #expect(!text.contains("secret"))
        }
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("ada"))
    }
}
