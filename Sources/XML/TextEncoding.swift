import HTTPCore
import System

/// The encodings of text in feeds (WHATWG Encoding Standard), and others of the C library.
public enum TextEncoding {
    /// A text in UTF-8.
    public struct Decoded: Sendable, Equatable {
        /// The text.
        public var text: [UInt8]
        /// The problem of an encoding that the document names and this machine does not have, in a sentence; `nil`: none.
        public var warning: String?
    }

    /// Converts a document to UTF-8.
    ///
    /// A byte order mark decides before `charset`, and that before the XML declaration. Valid UTF-8 with characters outside
    /// ASCII wins over other names. Text in an unknown encoding, or in no valid UTF-8, is taken for windows-1252.
    /// - Parameter charset: The name of an encoding in the response; `nil` if it names none.
    public static func decoded(_ bytes: [UInt8], charset: String?) -> Decoded {
        if let (mark, encoding, unit) = marks.first(where: { bytes.starts(with: $0.mark) }) {
            let rest = mark.contains(less) ? bytes[...] : bytes.dropFirst(mark.count)
            guard unit > 1 else { return Decoded(text: Array(rest)) }
            return Decoded(text: EncodedText.utf8(rest, from: encoding, unit: unit)?.text ?? bytes)
        }
        let isUTF8 = (try? UTF8Span(validating: bytes.span)) != nil
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        let hasUTF8 = isUTF8 || hasUTF8(bytes)
        let names = [charset, declaration(bytes)].compactMap(\.self)
        var claimsUTF8 = false
        var missing: String?
        for name in names {
            switch standardName(of: name) {
            case "UTF-8" where isUTF8, "CP1252" where isUTF8, "ISO-8859-15" where isUTF8: return Decoded(text: bytes)
            case "UTF-8": claimsUTF8 = true
            case "CP1252": if !claimsUTF8 || !hasUTF8 { return Decoded(text: windows1252(bytes)) }
            case "UTF-16", "UTF-32": continue
            case let known:
                guard let (text, faults) = utf8(bytes, from: known ?? name) else {
                    missing = missing ?? name
                    continue
                }
                // Where the name can be read, the encoding contains ASCII.
                guard isSimilar(text, bytes), faults == 0 || !claimsUTF8 else { continue }
                return Decoded(text: isUTF8 && !isASCII ? bytes : text)
            }
        }
        let isWestern = !hasUTF8
        let warning = missing.map {
            "The document names the encoding '\($0.prefix(40))', which is unknown here; it was read as "
                + "\(isWestern ? "windows-1252" : "UTF-8")."
        }
        return Decoded(text: isWestern ? windows1252(bytes) : bytes, warning: warning)
    }

    private static let less = UInt8(ascii: "<")

    /// The first bytes that show an encoding: byte order marks, and `<`, the first character of a document.
    private static let marks: [(mark: [UInt8], encoding: String, unit: Int)] = [
        ([0xEF, 0xBB, 0xBF], "UTF-8", 1), ([0xFF, 0xFE, 0, 0], "UTF-32LE", 4), ([0, 0, 0xFE, 0xFF], "UTF-32BE", 4),
        ([less, 0, 0, 0], "UTF-32LE", 4), ([0, 0, 0, less], "UTF-32BE", 4), ([0xFE, 0xFF], "UTF-16BE", 2),
        ([0xFF, 0xFE], "UTF-16LE", 2), ([0, less], "UTF-16BE", 2), ([less, 0], "UTF-16LE", 2),
    ]

    // MARK: - Names

    /// Returns the C library's name of an encoding that the Encoding Standard has, for one of its labels in any spelling;
    /// `nil` for others.
    static func standardName(of label: String) -> String? {
        let characters = label.asciiLowercased.utf8.filter { $0 &- 0x61 < 26 || $0 &- 0x30 < 10 }
        var name = String(decoding: characters, as: UTF8.self)[...]
        for prefix in ["x", "cs"] where name.hasPrefix(prefix) { name = name.dropFirst(prefix.count) }
        for (prefix, system) in [("iso8859", "ISO-8859-"), ("windows125", "CP125"), ("cp125", "CP125")] {
            guard name.hasPrefix(prefix) else { continue }
            // The year of the standard does not count.
            let digits = name.dropFirst(prefix.count).prefix { $0.isNumber }
            return standardName(system + digits.prefix(digits.count > 4 ? digits.count - 4 : 2))
        }
        return labels[String(name)].map(standardName)
    }

    /// Browsers read some encodings as those that contain them.
    private static func standardName(_ name: String) -> String {
        switch name {
        case "ISO-8859-1": "CP1252"
        case "ISO-8859-9": "CP1254"
        case "ISO-8859-11": "CP874"
        default: name
        }
    }

    /// The encodings by their labels, in lower case and without punctuation, `x` and `cs`.
    private static let labels: [String: String] = {
        var labels: [String: String] = [:]
        for row in rows {
            let names = row.split(separator: " ").map(String.init)
            for label in names.dropFirst() { labels[label] = names[0] }
        }
        return labels
    }()

    private static let rows =
        """
        UTF-8 utf8 unicode11utf8 unicode20utf8 ascii usascii ansix341968
        UTF-16 utf16 utf16le utf16be ucs2 unicode unicodefeff unicodefffe iso10646ucs2
        UTF-32 utf32 utf32le utf32be ucs4
        ISO-8859-1 latin1 l1 isolatin1 isoir100 ibm819 cp819
        ISO-8859-2 latin2 l2 isolatin2 isoir101
        ISO-8859-3 latin3 l3 isolatin3 isoir109
        ISO-8859-4 latin4 l4 isolatin4 isoir110
        ISO-8859-5 cyrillic isolatincyrillic isoir144
        ISO-8859-6 arabic isolatinarabic isoir127 asmo708 ecma114
        ISO-8859-7 greek greek8 isolatingreek isoir126 ecma118 elot928 suneugreek
        ISO-8859-8 hebrew isolatinhebrew isoir138 visual logical
        ISO-8859-9 latin5 l5 isolatin5 isoir148
        ISO-8859-10 latin6 l6 isolatin6 isoir157
        ISO-8859-15 latin9 l9 isolatin9
        CP874 tis620 dos874 windows874 cp874
        KOI8-R koi8r koi8 koi
        KOI8-U koi8u koi8ru
        IBM866 ibm866 cp866 866
        MACINTOSH macintosh mac macroman
        MAC-UK maccyrillic macukrainian
        MAC-CENTRALEUROPE maccentraleurope maclatin2 macce
        MAC-IS maciceland
        IBM861 ibm861 cp861 cpis
        GB18030 gb18030 gbk gb2312 gb231280 iso58gb231280 isoir58 chinese cp936 ms936 windows936
        BIG5-HKSCS big5 big5hkscs cnbig5 xbig5 cp950 windows950
        EUC-JP-MS eucjp eucpkdfmtjapanese
        ISO-2022-JP iso2022jp
        CP932 shiftjis sjis mskanji ms932 windows31j cp932 windows932
        CP949 euckr korean ksc5601 ksc56011987 ksc56011989 isoir149 windows949 cp949 uhc
        """
        .split(separator: "\n")

    /// The encoding in the declaration of an XML document: `<?xml version="1.0" encoding="…"?>`.
    private static func declaration(_ bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(1024), as: UTF8.self)
        guard let start = head.firstRange(of: "<?xml"), let end = head[start.upperBound...].firstRange(of: "?>"),
            let name = head[start.upperBound..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let value = head[name.upperBound..<end.lowerBound].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }

    // MARK: - Bytes

    /// Converts a text with the C library, and adds the characters that browsers read and the library lacks.
    private static func utf8(_ bytes: [UInt8], from encoding: String) -> (text: [UInt8], faults: Int)? {
        let others: [UInt8: Character] = encoding == "GB18030" ? [0x80: "€"] : [:]
        let decoded = EncodedText.utf8(bytes[...], from: encoding, others: others)
        // The C library leaves unknown escape sequences as they are.
        guard encoding == "ISO-2022-JP", decoded.map({ $0.faults > 0 || $0.text.contains(0x1B) }) ?? true,
            let wider = EncodedText.utf8(eucJP(bytes)[...], from: "EUC-JP-MS")
        else { return decoded }
        return wider.faults <= decoded?.faults ?? .max ? wider : decoded
    }

    /// Converts a text in ISO-2022-JP to EUC-JP, with NEC's characters and half-width katakana.
    private static func eucJP(_ bytes: [UInt8]) -> [UInt8] {
        let escapes: [(sequence: String, set: UInt8)] = [
            ("(B", 0), ("(J", 0), ("$@", 1), ("$B", 1), ("(I", 2),
        ]
        var result: [UInt8] = []
        var set: UInt8 = 0
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == 0x1B, let escape = escapes.first(where: { rest.starts(with: $0.sequence.utf8) }) {
                set = escape.set
                rest = rest.dropFirst(2)
            } else if set == 0 || byte < 0x21 || byte > 0x7E {
                result.append(byte < 0x80 ? byte : 0xFF)
            } else {
                if set == 2 { result.append(0x8E) }
                result.append(byte | 0x80)
            }
        }
        return result
    }

    /// Returns whether a text begins with the same tag in both forms.
    private static func isSimilar(_ text: [UInt8], _ bytes: [UInt8]) -> Bool {
        guard let start = bytes.firstIndex(of: less) else { return true }
        let tag = bytes[start...].prefix(5).prefix { (0x20..<0x7F).contains($0) }
        return text.firstIndex(of: less).map { text[$0...].starts(with: tag) } ?? false
    }

    /// Returns whether a character outside ASCII is written in UTF-8.
    private static func hasUTF8(_ bytes: [UInt8]) -> Bool {
        var missing = 0
        for byte in bytes {
            switch byte {
            case 0x80...0xBF where missing > 0:
                missing -= 1
                if missing == 0 { return true }
            case 0xC2...0xDF: missing = 1
            case 0xE0...0xEF: missing = 2
            case 0xF0...0xF4: missing = 3
            default: missing = 0
            }
        }
        return false
    }

    /// Converts a text in windows-1252, which browsers also use for ISO-8859-1, without the help of the C library.
    private static func windows1252(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if byte < 0x80 { result.append(byte) } else { result += Character(windows1252(byte)).utf8 }
        }
        return result
    }

    /// Returns the character of a byte in windows-1252.
    static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        (0x80...0x9F).contains(byte) ? upperControls[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }

    /// The characters of windows-1252 from 0x80 to 0x9F.
    private static let upperControls = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars)
}
