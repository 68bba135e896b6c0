import JSON
import Testing

/// Accepted texts, refused texts and the offset of the error (RFC 8259).
@Suite struct JSONParsingTests {
    @Test("Reads values", arguments: accepted)
    func accepts(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text.utf8) == expected)
    }

    static let accepted: [(String, JSONValue)] = [
        ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
        (" \t\r\n null \t\r\n ", .null), ("\u{FEFF}null", .null), ("\u{FEFF} [] ", .array([])),
        ("[]", .array([])), ("{}", .object([])), ("[ ]", .array([])), ("{ }", .object([])),
        ("[null, 1, \"1\", {}]", .array([.null, .integer(1), .string("1"), .object([])])),
        ("[[[]]]", .array([.array([.array([])])])),
        (#"{"a":1,"b":[2]}"#, object(("a", .integer(1)), ("b", .array([.integer(2)])))),
        (#"{ "" : 0 }"#, object(("", .integer(0)))),
        (#"{"a":1,"A":2}"#, object(("a", .integer(1)), ("A", .integer(2)))),
        (#"{"k\u0065y":1}"#, object(("key", .integer(1)))),
        (#""""#, .string("")), (#""plain""#, .string("plain")),
        (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
        (#""\u0000x""#, .string("\u{0}x")), (#""\u00e9\u00E9""#, .string("éé")), (#""\uFFFF""#, .string("\u{FFFF}")),
        (#""\ud834\udd1e""#, .string("𝄞")), (#""\uDBFF\uDFFF""#, .string("\u{10FFFF}")),
        (#""a\ud83d\ude00b""#, .string("a😀b")), (#""日本語 𝄞""#, .string("日本語 𝄞")), ("\"\u{7F}\"", .string("\u{7F}")),
        ("\"\u{2028}\"", .string("\u{2028}")),
    ]

    @Test("A number is the nearest representable one", arguments: numbers)
    func readsNumbers(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text.utf8) == expected)
    }

    static let numbers: [(String, JSONValue)] = [
        ("0", .integer(0)), ("-0", .integer(0)), ("1", .integer(1)), ("-1", .integer(-1)), ("10", .integer(10)),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9223372036854775808)), ("-9223372036854775809", .number(-9223372036854775808)),
        ("18446744073709551615", .number(18446744073709551616)), ("18446744073709551616", .number(18446744073709551616)),
        ("123456789012345678901234567890", .number(1.2345678901234568e29)),
        ("0.5", .number(0.5)), ("-0.5", .number(-0.5)), ("-0.0", .number(-0.0)), ("1.0", .number(1)),
        ("1e0", .number(1)), ("1E2", .number(100)), ("1e+2", .number(100)), ("1e-2", .number(0.01)), ("0e9", .number(0)),
        ("9.99", .number(9.99)), ("0.1", .number(0.1)), ("1e22", .number(1e22)), ("1e23", .number(1e23)),
        ("9007199254740993.0", .number(9007199254740992)), ("1e308", .number(1e308)),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("5e-324", .number(.leastNonzeroMagnitude)),
        ("1e-400", .number(0)), ("0e99999999999999999999", .number(0)), ("1e-99999999999999999999", .number(0)),
        ("0.00000000000000000000000000000000001", .number(1e-35)),
        ("2.2250738585072011e-308", .number(Double.leastNormalMagnitude.nextDown)),
    ]

    @Test("Refuses anything else at the first wrong byte", arguments: refused)
    func refuses(text: String, offset: Int) {
        #expect { try JSONValue(parsing: text.utf8) } throws: { ($0 as? JSONError)?.offset == offset }
    }

    static let refused: [(String, Int)] = [
        ("", 0), ("  ", 2), ("nul", 3), ("nulL", 3), ("True", 0), ("truefalse", 4), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1),
        ("undefined", 0), ("'a'", 0), ("1 2", 2), ("{}{}", 2), ("null\u{0}", 4), ("\u{0}", 0),
        ("\u{FEFF}\u{FEFF}null", 3), ("\u{FEFF}", 3), (" \u{FEFF}null", 1),
        ("\u{A0}1", 0),
        ("\u{C}1", 0), ("// a\n1", 0), ("1 /* a */", 2),
        ("[", 1), ("[1", 2), ("[1,", 3), ("[,1]", 1), ("[1,]", 3), ("[1 2]", 3), ("[1}", 2), ("]", 0), ("[1,,2]", 3),
        ("{", 1), (#"{"a""#, 4), (#"{"a":"#, 5), (#"{"a":1"#, 6), (#"{"a":1,"#, 7), (#"{"a":1,}"#, 7), ("{a:1}", 1), ("{1:1}", 1),
        (#"{"a" 1}"#, 5), (#"{"a",1}"#, 4), (#"{"a":1]"#, 6), (#"{"a":1 "b":2}"#, 7), (#"{"a":}"#, 5), (#"{:1}"#, 1), ("}", 0),
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"\u0061":2}"#, 7), (#"{"a":{"b":1,"b":1}}"#, 12),
        ("-", 1), ("+1", 0), ("01", 0), ("-01", 1), ("00", 0), (".5", 0), ("1.", 2), ("1.e1", 2), ("1e", 2), ("1e+", 3),
        ("0x10", 1),
        ("1_000", 1), ("--1", 1), ("1.5.5", 3), ("1e400", 0), ("-1e400", 0), ("1e99999999999999999999", 0), ("- 1", 1),
        ("1e1.5", 3),
        ("１", 0),
        ("\"", 1), ("\"a", 2), ("\"\\", 2), (#""\a""#, 2), (#""\x41""#, 2), (#""\u12"#, 5), (#""\u12G4""#, 5), (#""\U0041""#, 2),
        ("\"\n\"", 1), ("\"\t\"", 1), ("\"\u{0}\"", 1), ("\"\\n\u{1F}\"", 3), (#""\"#, 2), (#""\'""#, 2),
        (#""\ud800""#, 3), (#""\udc00""#, 3), (#""\ud800x""#, 3), (#""\ud800\n""#, 3), (#""\ud800\ud800""#, 3),
        (#""\udc00\ud800""#, 3),
        (#""\ud800\u0041""#, 3),
    ]

    @Test("Refuses a string with bytes that are not UTF-8", arguments: notUTF8)
    func refusesInvalidUTF8(bytes: [UInt8]) {
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        #expect { try JSONValue(parsing: quoted) } throws: { ($0 as? JSONError)?.offset == 0 }
        let escaped = Array(#"["\n"#.utf8) + bytes + Array("\"]".utf8)
        #expect { try JSONValue(parsing: escaped) } throws: { ($0 as? JSONError)?.offset == 1 }
    }

    static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC3], [0xC3, 0x28], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x9D, 0x84], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
        [0xFE], [0xFF], [0x61, 0xFF, 0x61],
    ]

    @Test("Refuses bytes outside strings that are not UTF-8")
    func refusesStrayBytes() {
        for byte in UInt8(0x80)...0xFF {
            #expect(throws: JSONError.self) { try JSONValue(parsing: [byte]) }
            #expect(throws: JSONError.self) { try JSONValue(parsing: [UInt8(ascii: "["), byte, UInt8(ascii: "]")]) }
        }
    }

    @Test("Limits nesting to 64 arrays and objects", arguments: ["[", #"{"a":"#])
    func limitsDepth(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(65)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(100_000)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: opening, count: 100_000).utf8) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(2), maximumDepth: 1) }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(1), maximumDepth: 1) }
        // No caller can request more than the stack allows.
        #expect(throws: Never.self) { try JSONValue(parsing: nested(JSONLimits.depth), maximumDepth: .max) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(JSONLimits.depth + 1), maximumDepth: .max) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(1), maximumDepth: -1) }
    }

    @Test("Limits numbers to 1,024 bytes")
    func limitsNumbers() throws {
        let longest = String(repeating: "9", count: 1024)
        #expect(throws: JSONError.self) { try JSONValue(parsing: longest.utf8) }
        let fraction = "0." + String(repeating: "3", count: 1022)
        #expect(try JSONValue(parsing: fraction.utf8) == .number(1.0 / 3))
        #expect(throws: JSONError.self) { try JSONValue(parsing: (fraction + "3").utf8) }
    }

    @Test("Compares names byte by byte, in small and large objects")
    func comparesNames() throws {
        // “é” in one scalar and in two: equal in Swift, two names in JSON.
        let both = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}".utf8)
        #expect(both["\u{E9}"] == .integer(1))
        #expect(both["e\u{301}"] == .integer(2))
        #expect(both["e"] == nil)

        for count in [1, 47, 48, 49, 50, 5000] {
            let members = (0..<count).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
            #expect(try JSONValue(parsing: "{\(members)}".utf8).members?.count == count)
            #expect(throws: JSONError.self) { try JSONValue(parsing: "{\(members),\"n\(count - 1)\":0}".utf8) }
            #expect(throws: JSONError.self) { try JSONValue(parsing: "{\(members),\"n0\":0}".utf8) }
        }
    }

    @Test("Values have accessors for their own type only")
    func accessors() throws {
        let value = try JSONValue(parsing: #"{"s":"x","i":7,"d":1.5,"w":2.0,"b":true,"a":[1],"n":null,"big":1e300}"#.utf8)
        #expect(value["s"]?.string == "x")
        #expect(value["s"]?.integer == nil)
        #expect(value["i"]?.integer == 7)
        #expect(value["i"]?.number == 7)
        #expect(value["i"]?.string == nil)
        #expect(value["d"]?.number == 1.5)
        #expect(value["d"]?.integer == nil)
        #expect(value["w"]?.integer == 2)
        #expect(value["big"]?.integer == nil)
        #expect(value["b"]?.bool == true)
        #expect(value["a"]?.array == [.integer(1)])
        #expect(value["n"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value.members?.map(\.name) == ["s", "i", "d", "w", "b", "a", "n", "big"])
        #expect(JSONValue.array([])["s"] == nil)
    }

    @Test("An error has a reason and an offset")
    func describesErrors() {
        #expect { try JSONValue(parsing: "[1,]".utf8) } throws: { "\($0)" == "Expected a value at byte 3" }
        #expect { try JSONValue(parsing: "[1".utf8) } throws: { "\($0)" == "Unexpected end of the text at byte 2" }
    }
}

/// An object with these members.
func object(_ members: (String, JSONValue)...) -> JSONValue {
    .object(members.map { JSONMember(name: $0.0, value: $0.1) })
}
