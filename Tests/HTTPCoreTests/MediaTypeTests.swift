import Testing

@testable import HTTPCore

@Suite struct MediaTypeTests {
    static let types: [(String, essence: String, charset: String?, printed: String)] = [
        ("text/html;charset=utf-8", "text/html", "utf-8", "text/html; charset=utf-8"),
        ("Text/HTML;Charset=\"UTF-8\"", "text/html", "utf-8", "text/html; charset=UTF-8"),
        ("text/html; charset=\"utf-8\"", "text/html", "utf-8", "text/html; charset=utf-8"),
        ("audio/mp4", "audio/mp4", nil, "audio/mp4"),
        (" audio/x-m4a ; a = b ", "audio/x-m4a", nil, "audio/x-m4a; a=b"),
        ("text/javascript; charset=utf-8;", "text/javascript", "utf-8", "text/javascript; charset=utf-8"),
        ("application/vnd.api+json", "application/vnd.api+json", nil, "application/vnd.api+json"),
        ("a/b;c=\"d e\\\"\"", "a/b", nil, "a/b; c=\"d e\\\"\""),
        ("a/b;c;d=e", "a/b", nil, "a/b; d=e"), ("a/b;charset=x;charset=y", "a/b", "x", "a/b; charset=x"),
        ("a/b;c=\"\"", "a/b", nil, "a/b; c=\"\""),
        ("*/*", "*/*", nil, "*/*"),
    ]

    @Test("Divides a media type into components", arguments: types)
    func aTypeIsTakenApart(text: String, essence: String, charset: String?, printed: String) throws {
        let type = try #require(MediaType(parsing: text))
        #expect(type.essence == essence)
        #expect(type.charset == charset)
        #expect(type.description == printed)
    }

    @Test(
        "Refuses invalid types",
        arguments: ["", "a", "/", "a/", "/b", "a b/c", "a/b c", "a/b/c", "a/b, c/d", ";a=b", "a /b", "é/b", "a/\u{0}"])
    func invalidTypesAreRefused(text: String) {
        #expect(MediaType(parsing: text) == nil)
    }

    @Test(
        "A pattern matches a type or all subtypes",
        arguments: [
            ("audio/mp4", true), ("audio/*", true), ("*/*", true), ("AUDIO/MP4", true), ("audio/mp4; codecs=x", true),
            ("audio/mpeg", false),
            ("video/*", false), ("*/mp4", false), ("audio", false), ("", false), ("*", false), ("audio/mp", false),
        ])
    func aPatternNamesATypeOrAllOfAKind(pattern: String, matches: Bool) throws {
        #expect(try #require(MediaType(parsing: "Audio/MP4; a=b")).matches(pattern: pattern) == matches)
    }
}
