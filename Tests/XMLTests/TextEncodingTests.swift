import Testing

@testable import XML

@Suite("Encodings of texts", .timeLimit(.minutes(1)))
struct TextEncodingTests {
    private func document(_ name: String, _ word: [UInt8]) -> [UInt8] {
        Array("<?xml version='1.0' encoding='\(name)'?><a>".utf8) + word + Array("</a>".utf8)
    }

    private func bytes(_ digits: String) -> [UInt8] {
        var rest = digits[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    @Test(
        "Reads the encodings of the Encoding Standard by their labels",
        arguments: [
            ("EUC-KR", "bec8b3e7c7cfbcbcbfe420c7d1b1db", "안녕하세요 한글"),
            ("Shift_JIS", "93fa967b8cea82cc94d491678740", "日本語の番組①"),
            ("EUC-JP", "c6fccbdcb8eca4cec8d6c1c8", "日本語の番組"),
            ("ISO-2022-JP", "1b2442467c4b5c386c244e485641481b2842", "日本語の番組"),
            ("GB2312", "c4e3bac3cac0bde7", "你好世界"),
            ("GBK", "c4e3bac3cac0bde787e5", "你好世界囧"),
            ("GB18030", "c4e3bac3cac0bde78139ee39", "你好世界㐀"),
            ("Big5", "a741a66ea540acc9", "你好世界"),
            ("ISO-8859-5", "bfe0d8d2d5e22c20dcd8e0", "Привет, мир"),
            ("ISO-8859-7", "cae1ebe7ecddf1e1", "Καλημέρα"),
            ("ISO-8859-9", "47fc6e617964fd6e20fe61726bfd", "Günaydın şarkı"),
            ("windows-1253", "cae1ebe7ecddf1e1", "Καλημέρα"),
            ("windows-1254", "47fc6e617964fd6e20fe61726bfd", "Günaydın şarkı"),
            ("windows-1255", "f9ece5ed20f2e5eced", "שלום עולם"),
            ("windows-1256", "e3d1cdc8c7", "مرحبا"),
            ("KOI8-U", "f0d2c9d7a6d42c20a7d6c1cb", "Привіт, їжак"),
            ("TIS-620", "cac7d1cab4d5", "สวัสดี"),
            ("ISO-8859-2", "ae6c75bb6f75e86bfd206bf9f2", "Žluťoučký kůň"),
            ("windows-1250", "8e6c759d6f75e86bfd206bf9f2", "Žluťoučký kůň"),
            ("windows-1251", "cff0e8e2e5f2", "Привет"),
            ("windows-1257", "c0fe756f6c6173", "Ąžuolas"),
            ("ISO-8859-15", "bd7576726520a435", "œuvre €5"),
            ("KOI8-R", "f0d2c9d7c5d4", "Привет"),
            ("IBM866", "8fe0a8a2a5e2", "Привет"),
            ("macintosh", "5a6f91", "Zoë"),
            ("ISO-8859-6", "e5d1cdc8c7", "مرحبا"),
            ("ISO-8859-8-i", "f9ece5ed", "שלום"),
            ("x-sjis", "93fa967b8cea", "日本語"),
            ("ks_c_5601-1987", "c7d1b1db", "한글"),
            ("windows-31j", "93fa967b8cea", "日本語"),
            ("cp950", "a741a66e", "你好"),
            // Half-width kana, NEC's characters, and the euro sign of windows-936.
            ("ISO-2022-JP", "1b28493132331b2842", "ｱｲｳ"), ("ISO-2022-JP", "1b24422d211b2842", "①"),
            ("GB2312", "d6d080", "中€"), ("GBK", "8080c4e3", "€€你"),
        ])
    func labels(name: String, word: String, text: String) {
        for spelling in [name, name.lowercased(), name.uppercased()] {
            let declared = TextEncoding.decoded(document(spelling, bytes(word)), charset: nil)
            #expect(String(decoding: declared.text, as: UTF8.self).hasSuffix("?><a>\(text)</a>"), "\(spelling)")
            #expect(declared.warning == nil)
        }
        let named = TextEncoding.decoded(Array("<a>".utf8) + bytes(word) + Array("</a>".utf8), charset: name)
        #expect(String(decoding: named.text, as: UTF8.self) == "<a>\(text)</a>" && named.warning == nil)
    }

    @Test(
        "White space of every kind stands around the equals sign of a declaration",
        arguments: ["encoding=", "encoding = ", "encoding\n=\n", "encoding\t=\r\n"])
    func declarations(start: String) {
        let text = TextEncoding.decoded(Array("<?xml version='1.0' \(start)'EUC-KR'?><a>".utf8) + bytes("c7d1b1db"), charset: nil)
        #expect(String(decoding: text.text, as: UTF8.self).hasSuffix("<a>한글") && text.warning == nil)
    }

    @Test("Bytes that are invalid in ISO-2022-JP stay few faults")
    func invalidJapanese() {
        let text = TextEncoding.decoded(document("ISO-2022-JP", bytes("1b2442467cff1b28421b5a41")), charset: nil).text
        #expect(String(decoding: text, as: UTF8.self).contains("日") && text.suffix(5).elementsEqual("A</a>".utf8))
    }

    @Test(
        "Of several signs of an encoding, the one counts that makes sense",
        arguments: [
            // The response names UTF-8, and the document is Korean.
            ("utf-8", "euc-kr", "c7d1b1db", "한글", false), ("euc-kr", "utf-8", "c7d1b1db", "한글", false),
            // The document was converted to UTF-8, and its declaration was not.
            (nil, "Shift_JIS", "e697a5e69cac", "日本", false), (nil, "iso-8859-1", "c3a9", "é", false),
            (nil, "x-unheard-of", "c3a9", "é", true), ("x-unheard-of", nil, "e9", "é", true),
            ("x-unheard-of", "windows-1251", "cff0", "Пр", false), (nil, "a//TRANSLIT", "e9", "é", true),
            (nil, "IBM037", "e9", "é", false), (nil, nil, "e9", "é", false),
        ] as [(String?, String?, String, String, Bool)])
    func signs(charset: String?, declared: String?, word: String, text: String, isMissing: Bool) {
        let written = declared.map { document($0, bytes(word)) } ?? Array("<a>".utf8) + bytes(word) + Array("</a>".utf8)
        let decoded = TextEncoding.decoded(written, charset: charset)
        #expect(String(decoding: decoded.text, as: UTF8.self).hasSuffix("<a>\(text)</a>"))
        let name = charset == "x-unheard-of" ? charset : declared
        #expect(decoded.warning.map { $0.contains("'\(name ?? "")'") } ?? false == isMissing, "\(decoded.warning ?? "")")
    }

    @Test("Broken bytes cost single characters, and many of them little time")
    func faults() {
        let korean = bytes("c7d1b1db")
        let broken = document("EUC-KR", korean + [0xFF] + Array("<b>".utf8) + [0xC7] + Array("</b>".utf8) + korean)
        let text = String(decoding: TextEncoding.decoded(broken, charset: nil).text, as: UTF8.self)
        #expect(text.hasSuffix("<a>한글\u{FFFD}<b>\u{FFFD}</b>한글</a>"))
        let noise = document("Shift_JIS", [UInt8](repeating: 0xFF, count: 4 << 20))
        #expect(TextEncoding.decoded(noise, charset: nil).text.count > 4 << 20)
    }

    @Test("Reads UTF-32, with a mark and without")
    func utf32() {
        for (mark, isBig) in [([0xFF, 0xFE, 0, 0], false), ([0, 0, 0xFE, 0xFF], true), ([], false), ([], true)]
            as [([UInt8], Bool)]
        {
            let units = "<a>é😀</a>".unicodeScalars.flatMap { scalar in
                let unit = (0..<4).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * UInt32($0))) }
                return isBig ? unit.reversed() : unit
            }
            #expect(String(decoding: TextEncoding.decoded(mark + units, charset: nil).text, as: UTF8.self) == "<a>é😀</a>")
        }
    }
}
