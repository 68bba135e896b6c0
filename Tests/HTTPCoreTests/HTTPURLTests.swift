import Testing

@testable import HTTPCore

@Suite struct HTTPURLTests {
    static let urls: [(String, String)] = [
        ("http://a", "http://a/"), ("http://a/", "http://a/"), ("HTTP://Example.ORG/Path", "http://example.org/Path"),
        ("https://a:443/x", "https://a/x"),
        ("http://a:80", "http://a/"), ("http://a:443", "http://a:443/"), ("http://a:/x", "http://a/x"),
        ("http://a:008080/", "http://a:8080/"),
        ("http://a?q", "http://a/?q"), ("http://a#f", "http://a/"), ("http://a/?#f?", "http://a/?"),
        ("http://a/b?c?d#e", "http://a/b?c?d"),
        ("http://[::1]", "http://[::1]/"), ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://a/é", "http://a/%C3%A9"),
        ("http://a/?é", "http://a/?%C3%A9"), ("http://a/%c3%A9", "http://a/%c3%A9"),
        ("http://a/a/../b/./c", "http://a/a/../b/./c"),
        ("http://a/\"<>", "http://a/%22%3C%3E"), ("http://a/|[]{}^`", "http://a/|[]{}^`"), ("http://u:p@a/", "http://u:p@a/"),
        ("http://u@x@a/", "http://u%40x@a/"), ("http://a/@b", "http://a/@b"), ("http://a/%", "http://a/%"),
        ("http://a_b.c/", "http://a_b.c/"),
        ("http://127.1/", "http://127.1/"), ("http://0x7f.1/", "http://0x7f.1/"), ("http://a./", "http://a./"),
        ("http://a//b", "http://a//b"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ]

    @Test("Normalises URLs", arguments: urls)
    func aURLIsNormalised(text: String, normalised: String) throws {
        let url = try #require(HTTPURL(text))
        #expect(url.string == normalised)
        #expect(HTTPURL(normalised) == url)
    }

    static let refused = [
        "", "a", "/", "//a", "a.b/c", "http", "http:", "http:/", "http://", "http:///", "http:///a", "http:a", "http:/a",
        "http://?a", "http://#", "http://:80/",
        "ftp://a/", "file:///a", "javascript:alert(1)", "data:,a", "httpx://a", " http://a", "http://a ", "http://a b/",
        "http://a/b c", "http://a/?b c", "http://a/#b c",
        "http://a\\b/", "http://a/\\b", "http:\\\\a", "http://a/\u{0}", "http://a/\r\nX: y", "http://a/\t", "http://a/\u{7f}",
        "http://a:b/", "http://a:65536/", "http://a:0/",
        "http://a:99999999999999999999/", "http://a:-1/", "http://a:1:2/", "http://[::1", "http://::1/", "http://[]/",
        "http://[g]/", "http://[::1]a/", "http://[fe80::1%25eth0]/",
        "http://@/", "http://u@/", "http://u@:80/", "http://a%41/", "http://bücher.example/", "http://a<b/", "http://\u{0}@a/",
        "http://a/#\u{0}", "http://[::1]:65536/",
    ]

    @Test("Refuses invalid URLs", arguments: refused)
    func invalidURLsAreRefused(text: String) {
        #expect(HTTPURL(text) == nil)
    }

    private static let label63 = String(repeating: "a", count: 63)
    /// 253 characters.
    private static let longest =
        Array(repeating: label63, count: 3).joined(separator: ".") + "." + String(repeating: "b", count: 61)

    static let hosts: [(String, Bool)] = [
        (label63, true), (label63 + "a", false), (label63 + ".a", true), ("a." + label63 + "a.b", false),
        (longest, true), (longest + ".", true), (longest + "b", false), (longest + "b.", false),
        ("a-b", true), ("-a", false), ("a-", false), ("a.-b", false), ("a-.b", false), ("-", false), ("a.-", false),
        ("a--b", true), ("xn--a", true), ("_a._b.c", true), ("1a", true), ("a.1a", true), ("3com.com", true),
        ("a..b", false), (".a", false), (".", false), ("a..", false), ("..", false), ("a.", true),
        ("a,b", false), ("a!b", false), ("a'b", false), ("a(b)", false), ("a~b", false), ("a;b", false), ("a=b", false),
        ("*.a", false),
        // Numbers, as inet_aton(3) reads them
        ("127.0.0.1", true), ("127.1", true), ("2130706433", true), ("0x7f000001", true), ("0177.0.0.1", true), ("0X7F.1", true),
        ("1.2.3.4.", true), ("255.255.255.255", true), ("0", true), ("4294967295", true),
        ("256.0.0.1", false), ("1.2.3.256", false), ("1.2.3.4.5", false), ("4294967296", false), ("1.16777216", false),
        ("1.16777215", true), ("1.2.65536", false), ("a.1", false), ("1.a.3", false), ("08", false), ("0x", true),
        ("a.0xg", false),
        ("0x1ffffffff", false), ("99999999999999999999999999", false),
    ]

    @Test("Requires a valid host", arguments: hosts)
    func hostsAreValid(host: String, isPossible: Bool) {
        #expect((HTTPURL("http://\(host)/") != nil) == isPossible)
        #expect((HTTPURL("https://u:p@\(host.uppercased()):8080?q") != nil) == isPossible)
        #expect((HTTPURL("http://x/")?.resolving("//\(host)/y") != nil) == isPossible)
    }

    @Test("Divides a URL into components")
    func aURLIsTakenApart() throws {
        let url = try #require(HTTPURL("https://user:pw@Example.org:8443/a/b%20c.m4a?x=1&y#frag"))
        #expect(url.scheme == "https")
        #expect(url.userInfo == "user:pw")
        #expect(url.hasUserInfo)
        #expect(url.host == "example.org")
        #expect(url.port == 8443)
        #expect(url.path == "/a/b%20c.m4a")
        #expect(url.query == "x=1&y")
        #expect(url.origin == "https://example.org:8443")
        #expect(url.authority == "example.org:8443")
        #expect(url.lastPathComponent == "b c.m4a")
        #expect(url.description == "https://example.org:8443/a/b%20c.m4a?x=1&y")
        let plain = try #require(HTTPURL("http://[::1]/"))
        #expect(!plain.hasUserInfo)
        #expect(plain.host == "::1")
        #expect(plain.port == 80)
        #expect(plain.query == nil)
        #expect(plain.origin == "http://[::1]:80")
        #expect(plain.authority == "[::1]")
        #expect(plain.lastPathComponent == nil)
    }

    @Test(
        "Decodes the last component",
        arguments: [
            ("http://a/b", "b"), ("http://a/b/", nil), ("http://a/%2e%2e", ".."), ("http://a/x%2Fy", "x/y"),
            ("http://a/%E9t%E9.mp3", "été.mp3"), ("http://a/100%.mp3", "100%.mp3"), ("http://a/%", "%"),
            ("http://a/b?c/d", "b"), ("http://a/é", "é"), ("http://a/b+c", "b+c"),
        ])
    func theLastComponentIsDecoded(text: String, component: String?) {
        #expect(HTTPURL(text)?.lastPathComponent == component)
    }

    @Test("Appends paths and items")
    func pathsAndItemsAreAppended() throws {
        let base = try #require(HTTPURL("https://itunes.apple.com"))
        #expect(
            base.appending(path: "search", query: [QueryItem(name: "term", value: "a b&c")]).string
                == "https://itunes.apple.com/search?term=a+b%26c")
        #expect(base.appending(path: "/search").string == "https://itunes.apple.com/search")
        #expect(base.appending().string == "https://itunes.apple.com/")
        let deep = try #require(HTTPURL("http://u@a:81/b/?x=1"))
        #expect(
            deep.appending(path: "/c d?e", query: [QueryItem(name: "y", value: "2")]).string
                == "http://u@a:81/b/c%20d%3Fe?x=1&y=2")
    }

    /// RFC 3986 §5.4, with the base's `;p` and the results that are http URLs.
    static let references: [(String, String?)] = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g#s/../x", "http://a/b/c/g"), ("https://x:1/y", "https://x:1/y"), ("g:h", nil), ("http:g", nil), ("ftp://a", nil),
        ("file:///etc/passwd", nil),
        ("//u@h/x", "http://u@h/x"), (" a b?c d ", "http://a/b/c/a%20b?c%20d"), ("http://x y/", nil), ("//x y/", nil),
        ("http://x/a b", "http://x/a%20b"), ("a\tb", nil), ("\\\\x", nil), ("/a\r\nb", nil), ("é", "http://a/b/c/%C3%A9"),
        ("?a:b", "http://a/b/c/d;p?a:b"), ("/x:y", "http://a/x:y"), ("?", "http://a/b/c/d;p?"),
    ]

    @Test("Resolves references", arguments: references)
    func referencesAreResolved(reference: String, result: String?) throws {
        let base = try #require(HTTPURL("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.string == result)
    }

    @Test("The constant root of a service equals the parsed URL")
    func theRootOfAService() {
        let known = [
            HTTPURL(.https, host: "a.example"), HTTPURL(.http, host: "127.0.0.1", port: 8080), HTTPURL(.http, host: "b.example"),
        ]
        for (url, text) in zip(known, ["https://a.example", "http://127.0.0.1:8080/", "http://b.example:80"]) {
            #expect(url == HTTPURL(text))
            #expect(url.origin == HTTPURL(text)?.origin)
            #expect(url.path == "/")
        }
    }
}
