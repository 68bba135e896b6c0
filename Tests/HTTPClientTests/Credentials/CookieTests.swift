import HTTPCore
import Testing

@testable import HTTPClient

/// Cookies of responses and of files: RFC 6265.
@Suite struct CookieTests {
    private static let now: Int64 = 1_000_000_000

    @Test(
        "Sends a cookie back as its attributes say",
        arguments: [
            // The cookie, the URL that sets it, the URL that is requested, and whether it is sent.
            ("a=1", "http://a.example/d/x", "http://a.example/d/y", true),
            ("a=1", "http://a.example/d/x", "http://a.example/e", false),
            ("a=1", "http://a.example/d/x", "http://b.a.example/d/", false),
            ("a=1", "http://a.example/", "http://a.example:8080/", true),
            ("a=1; Path=/", "http://a.example/d/x", "https://a.example/e", true),
            ("a=1; path=/d", "http://a.example/", "http://a.example/d", true),
            ("a=1; path=/d", "http://a.example/", "http://a.example/d/e", true),
            ("a=1; path=/d", "http://a.example/", "http://a.example/de", false),
            ("a=1; path=d", "http://a.example/", "http://a.example/e", true),
            // Domains: a parent reaches siblings, never a foreign host, a child or a single label.
            ("a=1; Domain=example.org; Path=/", "http://a.example.org/", "http://b.example.org/", true),
            ("a=1; Domain=.Example.ORG; Path=/", "http://a.example.org/", "http://example.org/", true),
            ("a=1; Domain=example.org; Path=/", "http://a.example.org/", "http://badexample.org/", false),
            ("a=1; Domain=a.example.org", "http://a.example.org/", "http://x.a.example.org/", true),
            ("a=1; Domain=b.example.org", "http://a.example.org/", "http://b.example.org/", false),
            ("a=1; Domain=x.a.example.org", "http://a.example.org/", "http://x.a.example.org/", false),
            ("a=1; Domain=other.example", "http://a.example.org/", "http://other.example/", false),
            ("a=1; Domain=org", "http://a.example.org/", "http://b.example.org/", false),
            ("a=1; Domain=org", "http://a.example.org/", "http://a.example.org/", false),
            ("a=1; Domain=host", "http://host/", "http://host/", true),
            ("a=1; Domain=host", "http://host/", "http://b.host/", false),
            ("a=1; Domain=", "http://a.example.org/", "http://a.example.org/", true),
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", true),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", false),
            // Secure
            ("a=1; Secure", "https://a.example/", "https://a.example/", true),
            ("a=1; Secure", "https://a.example/", "http://a.example/", false),
            ("a=1; Secure", "http://a.example/", "https://a.example/", false),
            ("__Secure-a=1; Secure", "https://a.example/", "https://a.example/", true),
            ("__Secure-a=1", "https://a.example/", "https://a.example/", false),
            ("__Host-a=1; Secure; Path=/", "https://a.example/", "https://a.example/", true),
            ("__Host-a=1; Secure", "https://a.example/", "https://a.example/", false),
            ("__Host-a=1; Secure; Path=/; Domain=a.example", "https://a.example/", "https://a.example/", false),
            // Ends
            ("a=1; Max-Age=60", "http://a.example/", "http://a.example/", true),
            ("a=1; Max-Age=0", "http://a.example/", "http://a.example/", false),
            ("a=1; Max-Age=-5", "http://a.example/", "http://a.example/", false),
            ("a=1; Max-Age=9999999999999999999999", "http://a.example/", "http://a.example/", true),
            ("a=1; Max-Age=x", "http://a.example/", "http://a.example/", true),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "http://a.example/", "http://a.example/", false),
            ("a=1; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "http://a.example/", "http://a.example/", false),
            ("a=1; Expires=Thursday, 01-Jan-70 00:00:01 GMT", "http://a.example/", "http://a.example/", false),
            ("a=1; Expires=Fri, 01 Jan 2100 00:00:01 GMT", "http://a.example/", "http://a.example/", true),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=60", "http://a.example/", "http://a.example/", true),
            ("a=1; Expires=soon", "http://a.example/", "http://a.example/", true),
            // Malformed cookies
            ("a", "http://a.example/", "http://a.example/", false), ("=1", "http://a.example/", "http://a.example/", false),
            ("", "http://a.example/", "http://a.example/", false), (";a=1", "http://a.example/", "http://a.example/", false),
        ])
    func attributes(cookie: String, from: String, to: String, isSent: Bool) throws {
        var jar = CookieJar()
        jar.store(Fields(.setCookie, cookie), from: try url(from), now: Self.now)
        let field = jar.field(for: try url(to), now: Self.now).map { String(decoding: $0, as: UTF8.self) }
        let pair = cookie.split(separator: ";").first.map(String.init)
        #expect(field == (isSent ? pair : nil))
    }

    private static func text(_ field: [UInt8]?) -> String? { field.map { String(decoding: $0, as: UTF8.self) } }

    @Test("Orders cookies by path and creation, replaces equal ones, and appends the caller's")
    func order() throws {
        let page = try url("http://a.example/d/x")
        var jar = CookieJar()
        var fields = Fields()
        for cookie in ["a=1; Path=/", "b=2", "c=3; Path=/", "b=4", "gone=5"] { fields.append(.setCookie, cookie) }
        jar.store(fields, from: page, now: Self.now)
        jar.store(Fields(.setCookie, "gone=; Max-Age=0"), from: page, now: Self.now)
        #expect(Self.text(jar.field(for: page, now: Self.now)) == "b=4; a=1; c=3")
        #expect(Self.text(jar.field(for: page, own: Array("o=0".utf8), now: Self.now)) == "b=4; a=1; c=3; o=0")
        #expect(Self.text(CookieJar().field(for: page, own: Array("o=0".utf8), now: Self.now)) == "o=0")
        #expect(CookieJar().field(for: page, now: Self.now) == nil)
    }

    @Test("Cookies of a response replace and remove a file's cookies, for the transfer")
    func overFile() throws {
        let page = try url("http://a.example/")
        let file = try CookieFile(
            parsing: Array("a.example\tFALSE\t/\tFALSE\t0\ta\tfile\na.example\tFALSE\t/\tFALSE\t0\tb\tfile\n".utf8))
        let others = file.cookies(for: page, now: Self.now)
        var jar = CookieJar()
        #expect(Self.text(jar.field(for: page, with: others, now: Self.now)) == "a=file; b=file")
        jar.store(Fields(.setCookie, "b=new"), from: page, now: Self.now)
        #expect(Self.text(jar.field(for: page, with: others, now: Self.now)) == "a=file; b=new")
        jar.store(Fields(.setCookie, "a=; Max-Age=0"), from: page, now: Self.now)
        #expect(Self.text(jar.field(for: page, with: others, now: Self.now)) == "b=new")
    }

    @Test("Bounds the number and the size of cookies, and of the field")
    func bounds() throws {
        let page = try url("http://a.example/")
        var jar = CookieJar()
        for number in 0..<150 { jar.store(Fields(.setCookie, "c\(number)=1"), from: page, now: Self.now) }
        let pairs = Self.text(jar.field(for: page, now: Self.now))?.split(separator: "; ") ?? []
        #expect(pairs.count == 100)
        #expect(pairs.first == "c50=1")
        var large = CookieJar()
        let value = String(repeating: "x", count: 4000)
        for number in 0..<5 { large.store(Fields(.setCookie, "c\(number)=\(value)"), from: page, now: Self.now) }
        large.store(Fields(.setCookie, "small=1"), from: page, now: Self.now)
        large.store(Fields(.setCookie, "huge=\(value)\(value)"), from: page, now: Self.now)
        let field = try #require(Self.text(large.field(for: page, own: Array(value.utf8), now: Self.now)))
        #expect(field == "c0=\(value); c1=\(value); small=1; \(value)")
    }

    // MARK: - Files

    private static let file = """
        # Netscape HTTP Cookie File

        .example.org\tTRUE\t/\tFALSE\t2000000000\tall\t1
        #HttpOnly_example.org\tFALSE\t/\tFALSE\t0\thost\t2
        example.org\tFALSE\t/private\tFALSE\t0\tpath\t3
        example.org\tFALSE\t/\tTRUE\t0\tsecure\t4
        example.org\tFALSE\t/\tFALSE\t999999999\tended\t5
        example.org\tFALSE\t/\tFALSE\t-1\tended too\t5
        example.org\tFALSE\t/\tFALSE\t0\thost\t6
        example.org\tFALSE\t/\tFALSE\t1999999999.25\tempty
        example.org\tfalse\t/\tfalse\t0\t\tnameless
        127.0.0.1\tTRUE\t/\tFALSE\t0\taddress\t7
        """

    @Test(
        "Obeys domain, path, secure and end of a file's cookies",
        arguments: [
            ("http://example.org/", "all=1; host=6; empty="), ("http://www.example.org/", "all=1"),
            ("https://example.org/private/x", "path=3; all=1; host=6; secure=4; empty="), ("http://example.com/", nil),
            ("http://org/", nil), ("http://127.0.0.1:81/", "address=7"), ("http://1.127.0.0.1.example/", nil),
        ] as [(String, String?)])
    func files(address: String, expected: String?) throws {
        let file = try CookieFile(parsing: Array(Self.file.replacing("\n", with: "\r\n").utf8))
        let page = try url(address)
        let field = CookieJar().field(for: page, with: file.cookies(for: page, now: Self.now), now: Self.now)
        let names = { (field: String?) in field.map { Set($0.split(separator: "; ")) } }
        #expect(names(Self.text(field)) == names(expected))
    }

    @Test(
        "Names the line of an error, and no word of it",
        arguments: [
            ("\na.example\tTRUE\t/\tFALSE\t0", 2, "seven parts"), ("a.example TRUE / FALSE 0 s3cret s3cret", 1, "tabs"),
            ("a.example\tyes\t/\tFALSE\t0\ta\ts3cret", 1, "TRUE or FALSE"), ("a.example\tTRUE\t/\tno\t0\ta\ts3cret", 1, "fourth"),
            ("a.example\tTRUE\tx\tFALSE\t0\ta\ts3cret", 1, "slash"), ("a.example\tTRUE\t/\tFALSE\tsoon\ta\ts3cret", 1, "seconds"),
            ("\tTRUE\t/\tFALSE\t0\ta\ts3cret", 1, "domain"), ("a b\tTRUE\t/\tFALSE\t0\ta\ts3cret", 1, "domain"),
            ("a.example\tTRUE\t/\tFALSE\t0\ta\ts3cret;b", 1, "semicolons"),
            ("a.example\tTRUE\t/\tFALSE\t0\ta\ts3cret\u{1}", 1, "control"),
        ])
    func faults(text: String, line: Int, reason: String) {
        do throws(CredentialFault) {
            _ = try CookieFile(parsing: Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
            #expect(error.reason.contains(reason))
            #expect(!error.reason.contains("s3cret"))
        }
    }
}
