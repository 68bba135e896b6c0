import Testing

@testable import HTTPCore

@Suite struct EntityTagTests {
    static let tags: [(String, String, Bool)] = [
        ("\"xyzzy\"", "xyzzy", false), ("W/\"xyzzy\"", "xyzzy", true), ("\"\"", "", false), (" \"a\" ", "a", false),
        ("\"a,b\"", "a,b", false), ("\"a\\\"", "a\\", false), ("\"é\"", "é", false), ("\"W/\"", "W/", false),
    ]

    @Test("A tag survives a round trip", arguments: tags)
    func aTagIsPrintedAsItIsRead(text: String, opaque: String, isWeak: Bool) {
        let tag = EntityTag(parsing: text)
        #expect(tag?.opaque == opaque)
        #expect(tag?.isWeak == isWeak)
        #expect(tag?.description == String(text.drop { $0 == " " }.prefix { $0 != " " }))
    }

    @Test(
        "Refuses invalid tags",
        arguments: [
            "", "xyzzy", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/ \"a\"", "W\"a\"", "\"a\"b", "\"a b\"", "\"a\u{0}\"", "*",
            "\"a\", \"b\"", "'a'",
        ])
    func invalidTagsAreRefused(text: String) {
        #expect(EntityTag(parsing: text) == nil)
    }

    /// RFC 9110 §8.8.3.2, table 3.
    @Test(
        "Compares as in the RFC's table",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
        ])
    func comparisonIsThatOfTheTable(left: String, right: String, strongly: Bool, weakly: Bool) throws {
        let left = try #require(EntityTag(parsing: left))
        let right = try #require(EntityTag(parsing: right))
        #expect(left.stronglyMatches(right) == strongly)
        #expect(right.stronglyMatches(left) == strongly)
        #expect(left.weaklyMatches(right) == weakly)
        #expect(right.weaklyMatches(left) == weakly)
    }

    @Test("Compares bytes, not appearance")
    func characterByCharacterIsNotByAppearance() {
        let (composed, decomposed) = (EntityTag(opaque: "\u{e9}"), EntityTag(opaque: "e\u{301}"))
        #expect(composed != decomposed)
        #expect(!composed.stronglyMatches(decomposed))
        #expect(!composed.weaklyMatches(decomposed))
    }

    @Test("Makes a tag legal for sending")
    func aTagToBeSentIsMadeLegal() {
        #expect(EntityTag(opaque: "a\"b\r\nc d").description == "\"a_b__c_d\"")
        #expect(EntityTag(opaque: "a", isWeak: true).description == "W/\"a\"")
    }

    static let spellings: [(String, String, Bool)] = [
        ("a", "\"a\"", true), ("", "\"\"", true), ("a", "a", false), ("a", "\"b\"", false), ("a", "\"ab\"", false),
        ("a", "W/\"a\"", false),
        ("W/a", "\"W/a\"", true), ("a", "", false), ("", "\"", false), ("", "", false), ("a", " \"a\"", false),
        ("a", "\"a\", \"b\"", false),
        ("\u{e9}", "\"\u{e9}\"", true), ("\u{e9}", "\"e\u{301}\"", false),
    ]

    @Test("A value is the tag alone, byte by byte", arguments: spellings)
    func aValueIsTheTagAloneByteByByte(opaque: String, value: String, isSpelling: Bool) {
        #expect(EntityTag(opaque: opaque).isSpelled(Array(value.utf8).span) == isSpelling)
        let weak = EntityTag(opaque: opaque, isWeak: true)
        #expect(weak.isSpelled(Array("W/\(value)".utf8).span) == isSpelling)
        #expect(!weak.isSpelled(Array(value.utf8).span) || value.hasPrefix("W/"))
    }

    static let lists: [(String, EntityTagList?)] = [
        ("*", .any), (" * ", .any), ("\"a\"", .tags([EntityTag(opaque: "a")])),
        (
            "\"a\", W/\"b\",\"c,d\"",
            .tags([EntityTag(opaque: "a"), EntityTag(opaque: "b", isWeak: true), EntityTag(opaque: "c,d")])
        ),
        (", \"a\",, \"b\" ,", .tags([EntityTag(opaque: "a"), EntityTag(opaque: "b")])),
        ("", nil), (",", nil), ("a", nil), ("\"a\" \"b\"", nil), ("\"a\", *", nil), ("*, \"a\"", nil), ("\"a\", b", nil),
        ("\"a", nil), ("**", nil),
    ]

    @Test("Reads or refuses a list as a whole", arguments: lists)
    func aListIsReadOrRefusedAsAWhole(text: String, list: EntityTagList?) {
        #expect(EntityTagList(parsing: text) == list)
    }
}
