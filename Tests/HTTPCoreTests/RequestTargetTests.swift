import Testing

@testable import HTTPCore

@Suite struct RequestTargetTests {
    static let targets: [(String, path: String, query: String?, decoded: String?, segments: [String]?)] = [
        ("/", "/", nil, "/", []), ("/a", "/a", nil, "/a", ["a"]), ("/a/", "/a/", nil, "/a/", ["a", ""]),
        ("//", "//", nil, "//", ["", ""]), ("//a", "//a", nil, "//a", ["", "a"]), ("/a?", "/a", "", "/a", ["a"]),
        ("/?a=b?c", "/", "a=b?c", "/", []), ("/a%2Fb/c", "/a%2Fb/c", nil, "/a/b/c", ["a/b", "c"]),
        ("/a+b%20c", "/a+b%20c", nil, "/a+b c", ["a+b c"]), ("/%C3%A9", "/%C3%A9", nil, "/é", ["é"]),
        ("/%c3%a9", "/%c3%a9", nil, "/é", ["é"]), ("/%E9", "/%E9", nil, nil, nil), ("/%", "/%", nil, nil, nil),
        ("/%4", "/%4", nil, nil, nil), ("/%zz", "/%zz", nil, nil, nil), ("/%00", "/%00", nil, nil, nil),
        ("/a%00b/c", "/a%00b/c", nil, nil, nil), ("/a/../b", "/a/../b", nil, "/a/../b", ["a", "..", "b"]),
        ("/%2e%2e/x", "/%2e%2e/x", nil, "/../x", ["..", "x"]), ("/a|b[c]", "/a|b[c]", nil, "/a|b[c]", ["a|b[c]"]),
        ("/a:80@b", "/a:80@b", nil, "/a:80@b", ["a:80@b"]), ("*", "*", nil, "*", []),
        ("http://a", "/", nil, "/", []), ("http://a/", "/", nil, "/", []), ("http://a?q", "/", "q", "/", []),
        ("https://a:1/b/c?d=/e", "/b/c", "d=/e", "/b/c", ["b", "c"]), ("HTTP://[::1]/", "/", nil, "/", []),
    ]

    @Test("Divides a target into components", arguments: targets)
    func aTargetIsTakenApart(raw: String, path: String, query: String?, decoded: String?, segments: [String]?) throws {
        let target = try RequestTarget(raw)
        #expect(target.description == raw)
        #expect(target.rawPath.elementsEqual(path.utf8))
        #expect(target.rawQuery.map { String(fieldText: $0) } == query)
        #expect(target.path == decoded)
        #expect(target.segments == segments)
    }

    @Test(
        "Reads characters that a client did not escape as their escapes",
        arguments: [
            ("/é", "/%C3%A9", ["é"]), ("/a\"b/c", "/a%22b/c", ["a\"b", "c"]),
            ("/x?q=日本&\"=%22", "/x?q=%E6%97%A5%E6%9C%AC&%22=%22", ["x"]),
            ("/\u{80}\u{10FFFF}", "/%C2%80%F4%8F%BF%BF", ["\u{80}\u{10FFFF}"]), ("http://a/ö?ü", "http://a/%C3%B6?%C3%BC", ["ö"]),
            ("http://a?é", "http://a?%C3%A9", []), ("http://é/", "http://%C3%A9/", []),
        ])
    func unescapedCharactersMeanTheirEscapes(sent: String, raw: String, segments: [String]) throws {
        let (target, escaped) = (try RequestTarget(sent), try RequestTarget(raw))
        #expect(target.description == raw)
        #expect(target.segments == segments)
        #expect(target.segments == escaped.segments)
        #expect(try target.queryItems() == escaped.queryItems())
        #expect(target.rawAuthority == escaped.rawAuthority)
    }

    @Test(
        "Refuses unescaped bytes that are not UTF-8",
        arguments: [
            [0xE9], [0xC3], [0xC3, UInt8(ascii: "?"), 0xA9], [0xC3] + Array("%A9".utf8), [0xC0, 0x80], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func unescapedBytesThatAreNotUTF8AreRefused(bytes: [UInt8]) {
        for prefix in ["/", "/x?q=", "http://a/"] {
            var parser = RequestParser()
            let text = Array("GET \(prefix)".utf8) + bytes + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            #expect(
                parser.parse(text.span)
                    == .failed(.malformedTarget("its bytes outside of ASCII must be UTF-8, or percent-encoded")))
        }
    }

    @Test(
        "Keeps the authority of an absolute form",
        arguments: [
            ("http://a/b", "a"), ("http://A.b:80/", "A.b:80"), ("https://[::1]:8/x", "[::1]:8"), ("http://a?x", "a"),
            ("/http://a", nil),
        ])
    func theAuthorityOfAnAbsoluteFormIsKnown(raw: String, authority: String?) throws {
        #expect(try RequestTarget(raw).rawAuthority.map { String(fieldText: $0) } == authority)
    }

    @Test("Accepts both forms of OPTIONS for the whole server")
    func optionsAsksForTheWholeServerInTwoForms() throws {
        #expect(try head("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").target.isAsterisk)
        let absolute = try head("OPTIONS http://b:8001 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(absolute.target.isAsterisk)
        #expect(absolute.fields[.host] == "b:8001")
        #expect(absolute.target.description == "http://b:8001")
        #expect(try !head("OPTIONS http://b/ HTTP/1.1\r\nHost: a\r\n\r\n").target.isAsterisk)
        #expect(try !head("OPTIONS http://b?q HTTP/1.1\r\nHost: a\r\n\r\n").target.isAsterisk)
        #expect(try !head("GET http://b HTTP/1.1\r\nHost: a\r\n\r\n").target.isAsterisk)
    }

    @Test(
        "Refuses targets that are not for origin servers",
        arguments: [
            "", "a", "?", "#", " ", "/ ", "/\u{0}", "/<", "/>", "/a#b", "/é#", "é", "\"",
            "http://", "ftp://a/", "http://u@a/", "**", "mailto:a", ":", "://a",
        ])
    func foreignTargetsAreRefused(raw: String) {
        #expect(throws: RequestError.self) { try RequestTarget(raw) }
    }

    static let queries: [(String, [String]?)] = [
        ("/", []), ("/?", []), ("/?a", ["a="]), ("/?a=", ["a="]), ("/?=a", ["=a"]), ("/?=", ["="]), ("/?a=b=c", ["a=b=c"]),
        ("/?a=1&b=2&a=3", ["a=1", "b=2", "a=3"]), ("/?&&a=1&", ["a=1"]), ("/?a=b+c%2Bd%20e", ["a=b c+d e"]),
        ("/?a+b=c", ["a b=c"]),
        ("/?%61=%C3%A9", ["a=é"]), ("/?a;b=c", ["a;b=c"]), ("/?a=?", ["a=?"]), ("/?a=%", nil), ("/?a=%4", nil), ("/?a=%g0", nil),
        ("/?a=%E9", nil), ("/?%E9=a", nil), ("/?a=%C0%80", nil), ("/?a=%ED%A0%80", nil), ("/?a=%00", ["a=\u{0}"]),
    ]

    @Test("Query items follow the rules of forms", arguments: queries)
    func queryItemsFollowTheRulesOfForms(raw: String, items: [String]?) throws {
        let target = try RequestTarget(raw)
        if let items {
            #expect(try target.queryItems().map { "\($0.name)=\($0.value)" } == items)
        } else {
            #expect(throws: QueryError.self) { try target.queryItems() }
        }
    }
}
