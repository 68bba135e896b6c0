import HTTPCore
import Testing

@Suite("Prefixes of paths")
struct PathPrefixTests {
    @Test(
        "A prefix has segments without escapes; its final slash is removed",
        arguments: [
            ("/", ""), ("/pawl", "/pawl"), ("/pawl/", "/pawl"), ("/a/b-c/~d.e_f", "/a/b-c/~d.e_f"), ("/...", "/..."),
            ("/" + String(repeating: "p", count: 254), "/" + String(repeating: "p", count: 254)),
        ])
    func prefixes(text: String, normalized: String) {
        #expect(PathPrefix(parsing: text)?.text == normalized)
    }

    @Test(
        "Refuses prefixes that change the host or directory of links, or need escapes",
        arguments: [
            "", "pawl", "//", "//evil.example", "/a//b", "/a/..", "/./a", "/a?b", "/a#b", "/a b", "/a%20b", "/ä", "/a\"b",
            "/a\\b",
            "/a:b", "/<a>", "/a\r\nb", "/" + String(repeating: "p", count: 255),
        ])
    func notPrefixes(text: String) {
        #expect(PathPrefix(parsing: text) == nil)
    }

    @Test(
        "A target below a prefix loses the prefix and keeps its query; others stay",
        arguments: [
            ("/pawl/downloads?a=/b", "/downloads"), ("/pawl/", "/"), ("/pawl", ""), ("/pawl?q", ""), ("/pawlow", nil),
            ("/paw", nil),
            ("/", nil), ("/x/pawl/", nil), ("/Pawl/", nil), ("/pawl//x", "//x"), ("http://h/pawl/x", "/x"), ("http://h", nil),
            ("*", nil),
        ] as [(String, String?)])
    func dropping(raw: String, path: String?) throws {
        var target = try RequestTarget(raw)
        let before = target
        #expect(target.drop(try #require(PathPrefix(parsing: "/pawl"))) == (path != nil))
        #expect(Array(target.rawPath) == path.map { Array($0.utf8) } ?? Array(before.rawPath))
        #expect(target.rawQuery.map { Array($0) } == before.rawQuery.map { Array($0) })
        #expect(target.isAsterisk == before.isAsterisk)
        #expect(target.description == raw)
    }
}
