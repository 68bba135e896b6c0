import Testing

@testable import HTTPCore

@Suite struct ContentDispositionTests {
    static let read: [(String, type: String, filename: String?)] = [
        // RFC 6266 §5
        ("Attachment; filename=example.html", "attachment", "example.html"),
        ("INLINE; FILENAME= \"an example.html\"", "inline", "an example.html"),
        ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        // RFC 8187 §3.2.3
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "attachment", "£ rates"),
        ("attachment; filename*=UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", "attachment", "£ and € rates"),
        // Types
        ("inline", "inline", nil), ("attachment", "attachment", nil), ("attachment;", "attachment", nil),
        ("form-data; name=a; filename=b", "form-data", "b"),
        ("foobar", "foobar", nil), ("attachment;filename", "attachment", nil), ("filename=foo.html", "attachment", "foo.html"),
        ("; filename=foo.html", "attachment", "foo.html"), ("filename=\"a; b\"", "attachment", "a; b"),
        ("\"attachment\"", "", nil),
        // Quoted strings and their contents
        ("attachment; filename=\"foo.html\"", "attachment", "foo.html"),
        ("attachment; filename=\"f\\oo.html\"", "attachment", "foo.html"),
        ("attachment; filename=\"\\\"quoting\\\" tested.html\"", "attachment", "\"quoting\" tested.html"),
        ("attachment; filename=\"Here's a semicolon;.html\"", "attachment", "Here's a semicolon;.html"),
        ("attachment; filename=\"foo.html", "attachment", "foo.html"), ("attachment; filename=\"foo\\", "attachment", "foo\\"),
        ("attachment; filename=foo bar.html", "attachment", "foo bar.html"),
        ("attachment; filename='foo.html'", "attachment", "'foo.html'"),
        ("attachment; filename=\"foo.html\"bar; x=y", "attachment", "foo.html"),
        ("attachment; filename=foo,bar.html", "attachment", "foo,bar.html"),
        ("attachment; filename = foo.html", "attachment", "foo.html"),
        ("attachment;filename=foo.html;;;", "attachment", "foo.html"),
        ("attachment; filename=\"\"", "attachment", nil), ("attachment; filename=", "attachment", nil),
        ("attachment; filename=;x=y", "attachment", nil),
        ("attachment; foo=\"bar; filename=x\"; filename=y", "attachment", "y"),
        ("attachment; xfilename=foo.html", "attachment", nil),
        ("attachment; foo=foo; filename=\"bar\"; foo=x", "attachment", "bar"),
        ("attachment; filename=a; filename=b", "attachment", "a"),
        // Encodings
        ("attachment; filename=\"foo-ä.html\"", "attachment", "foo-ä.html"),
        ("attachment; filename=foo-%41.html", "attachment", "foo-A.html"),
        ("attachment; filename=\"50%.html\"", "attachment", "50%.html"),
        ("attachment; filename=\"%E4.html\"", "attachment", "%E4.html"),
        ("attachment; filename=\"%c3%a4-ä\"", "attachment", "%c3%a4-ä"),
        ("attachment; filename=\"=?ISO-8859-1?Q?foo-=E4?=\"", "attachment", "=?ISO-8859-1?Q?foo-=E4?="),
        // Invalid extended values are ignored
        ("attachment; filename*=UTF-8''%E4; filename=a", "attachment", "a"),
        ("attachment; filename*=UTF-8''%zz; filename=a", "attachment", "a"),
        ("attachment; filename*=UTF-8''; filename=a", "attachment", "a"),
        ("attachment; filename*=foo; filename=a", "attachment", "a"),
        ("attachment; filename*=UTF-8'; filename=a", "attachment", "a"),
        ("attachment; filename*=koi8-r''%C1; filename=a", "attachment", "a"),
        ("attachment; filename*=''a; filename=b", "attachment", "b"), ("attachment; filename*=UTF-8''%", "attachment", nil),
        ("attachment; filename*=\"UTF-8''foo-%c3%a4.html\"", "attachment", "foo-ä.html"),
        ("attachment; filename*=UTF-8'en'foo'bar", "attachment", "foo'bar"),
        ("attachment; filename *=UTF-8''a", "attachment", nil),
        ("attachment; filename*=iso-8859-1''%00%80", "attachment", "\u{0}\u{80}"),
        // Names that must not be taken for paths
        ("attachment; filename=\"../../etc/passwd\"", "attachment", "../../etc/passwd"),
        ("attachment; filename=\"..%2Fa\"", "attachment", "../a"),
    ]

    @Test("Reads values as browsers do", arguments: read)
    func aValueIsReadAsBrowsersDo(text: String, type: String, filename: String?) throws {
        if type.isEmpty {
            #expect(ContentDisposition(parsing: text) == nil)
            return
        }
        let disposition = try #require(ContentDisposition(parsing: text))
        #expect(disposition.type == type)
        #expect(disposition.filename == filename)
    }

    @Test("Refuses values without a meaning", arguments: ["", " ", ";", ";;", "a b", "(a)", "attachment inline", "\u{0}"])
    func meaninglessValuesAreRefused(text: String) {
        #expect(ContentDisposition(parsing: text) == nil)
    }

    static let written: [(String, String)] = [
        ("foo.html", "attachment; filename=\"foo.html\""),
        ("a b;c.html", "attachment; filename=\"a b_c.html\"; filename*=UTF-8''a%20b%3Bc.html"),
        ("é #2?.mp3", "attachment; filename=\"_ _2_.mp3\"; filename*=UTF-8''%C3%A9%20#2%3F.mp3"),
        ("€ rates.txt", "attachment; filename=\"_ rates.txt\"; filename*=UTF-8''%E2%82%AC%20rates.txt"),
        ("a\"b\\c", "attachment; filename=\"a_b_c\"; filename*=UTF-8''a%22b%5Cc"),
        ("50%.txt", "attachment; filename=\"50_.txt\"; filename*=UTF-8''50%25.txt"),
        ("a\r\nb", "attachment; filename=\"a_b\"; filename*=UTF-8''a%0D%0Ab"), ("'*(),", "attachment; filename=\"'*(),\""),
        ("", "attachment"),
        ("é'*().m4a", "attachment; filename=\"_'*().m4a\"; filename*=UTF-8''%C3%A9%27%2A%28%29.m4a"),
    ]

    @Test("Writes a name for old and new recipients", arguments: written)
    func aNameIsWrittenForOldAndNewRecipients(filename: String, text: String) throws {
        let value = ContentDisposition.attachment(filename: filename)
        #expect(value.utf8.elementsEqual(text.utf8) || filename == "a\r\nb")
        #expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(ContentDisposition(parsing: value)?.filename == (filename.isEmpty ? nil : filename))
        #expect(ContentDisposition.inline(filename: filename) == "inline" + value.dropFirst("attachment".count))
    }

    @Test("Every name survives a round trip")
    func everyNameComesBack() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            var name = ""
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                if let scalar = UnicodeScalar(
                    UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7F : 0x10FFFF), using: &random))
                {
                    name.unicodeScalars.append(scalar)
                }
            }
            // A plain name is not trimmed, since it is quoted; CR LF is one Character and two bytes.
            let back = ContentDisposition(parsing: ContentDisposition.attachment(filename: name))?.filename
            #expect(back.map { Array($0.utf8) } == (name.isEmpty ? nil : Array(name.utf8)))
        }
    }
}
