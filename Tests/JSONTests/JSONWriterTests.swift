import JSON
import Testing

@Suite struct JSONWriterTests {
    @Test("Writes commas only between members and elements")
    func placesCommas() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", 1)
        writer.name("b")
        writer.beginArray()
        writer.value(1)
        writer.value("x")
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.null()
        writer.raw(Array(#"{"raw":true}"#.utf8))
        writer.endArray()
        writer.name("c" as String)
        writer.beginObject()
        writer.member("d", 1.5)
        writer.endObject()
        writer.member("e", true)
        writer.endObject()
        #expect(text(writer) == #"{"a":1,"b":[1,"x",{},[],null,{"raw":true}],"c":{"d":1.5},"e":true}"#)
    }

    @Test("An absent member is null")
    func writesAbsentMembers() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("s", String?.none)
        writer.member("i", Int?.none)
        writer.member("l", Int64?.none)
        writer.member("d", Double?.none)
        writer.member("b", Bool?.none)
        writer.member("v", JSONValue?.none)
        writer.member("w", JSONValue.array([.null]))
        writer.endObject()
        #expect(text(writer) == #"{"s":null,"i":null,"l":null,"d":null,"b":null,"v":null,"w":[null]}"#)
    }

    @Test("Escapes strings if necessary", arguments: strings)
    func escapes(string: String, expected: String) throws {
        var writer = JSONWriter()
        writer.value(string)
        #expect(text(writer) == expected)
        #expect(try JSONValue(parsing: writer.bytes) == .string(string))

        var named = JSONWriter()
        named.beginObject()
        named.name(string)
        named.null()
        named.endObject()
        #expect(text(named) == "{\(expected):null}")
    }

    @Test("Every character of the lower planes survives a round trip")
    func writesEveryCharacter() throws {
        var all = ""
        for value in UInt32(0)..<0x1_1000 {
            if let scalar = Unicode.Scalar(value) { all.unicodeScalars.append(scalar) }
        }
        let read = try JSONValue(parsing: JSONValue.string(all).serialized()).string
        #expect(read?.utf8.elementsEqual(all.utf8) == true)
    }

    static let strings: [(String, String)] = [
        ("", #""""#), ("plain", #""plain""#), ("é 日本 😀 /", #""é 日本 😀 /""#), ("\"", #""\"""#), ("\\", #""\\""#),
        ("a\nb\r\t\u{8}\u{C}", #""a\nb\r\t\b\f""#), ("\u{0}\u{1}\u{F}\u{10}\u{1F}", #""\u0000\u0001\u000f\u0010\u001f""#),
        (
            "\u{7F}\u{84}\u{85}\u{86}\u{2028}\u{2029}\u{202A}",
            "\"\u{7F}\u{84}\\u0085\u{86}\\u2028\\u2029\u{202A}\""
        ), ("ends with \\", #""ends with \\""#),
        ("a long string, longer than Swift keeps inside: \"x\"", #""a long string, longer than Swift keeps inside: \"x\"""#),
    ]

    @Test("Numbers survive a round trip", arguments: numbers)
    func writesNumbers(number: JSONValue, expected: String) throws {
        let bytes = number.serialized()
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(try JSONValue(parsing: bytes) == number)
    }

    static let numbers: [(JSONValue, String)] = [
        (.integer(0), "0"), (.integer(-7), "-7"), (.integer(1_234_567_890), "1234567890"),
        (.integer(10), "10"), (.integer(99_999_999), "99999999"), (.integer(100_000_000), "100000000"),
        (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"),
        (.number(0.1), "0.1"), (.number(2), "2.0"), (.number(1e300), "1e+300"), (.number(1e-7), "1e-07"),
        (.number(.leastNonzeroMagnitude), "5e-324"), (.number(-1), "-1.0"),
    ]

    @Test("A number that JSON lacks is null", arguments: [Double.nan, .infinity, -.infinity])
    func writesNonFinite(number: Double) {
        var writer = JSONWriter()
        writer.value(number)
        #expect(text(writer) == "null")
    }

    private func text(_ writer: JSONWriter) -> String {
        String(decoding: writer.bytes, as: UTF8.self)
    }
}
