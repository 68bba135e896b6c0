import HTTPCore

/// The encodings of text in feeds (WHATWG Encoding Standard).
public enum TextEncoding: Sendable, Equatable {
    case utf8
    /// UTF-16, with the most significant byte first or last.
    case utf16(isBigEndian: Bool)
    /// An encoding with one byte for each character.
    case single(SingleByteEncoding)

    /// Creates the encoding with a name, in any case; `nil` if the name is unknown.
    public init?(named name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8", "us-ascii", "ascii", "unicode-1-1-utf-8": self = .utf8
        case "utf-16", "utf-16le", "ucs-2": self = .utf16(isBigEndian: false)
        case "utf-16be": self = .utf16(isBigEndian: true)
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252", "x-cp1252":
            self = .single(Self.windows1252)
        case "iso-8859-2", "iso8859-2", "latin2": self = .single(Self.latin2)
        case "iso-8859-15", "iso8859-15", "latin9", "latin-9": self = .single(Self.latin9)
        case "windows-1250", "cp1250": self = .single(Self.windows1250)
        case "windows-1251", "cp1251": self = .single(Self.windows1251)
        case "koi8-r", "koi8": self = .single(Self.koi8)
        default: return nil
        }
    }

    /// Converts an XML document to UTF-8.
    ///
    /// A byte order mark decides before `charset`, and that before the document's declaration. Text in UTF-8 or in an
    /// unknown encoding is taken for windows-1252 if it has characters outside ASCII, and none of them in UTF-8.
    /// - Parameter charset: The name of an encoding in the response; `nil` if it names none.
    public static func utf8(_ bytes: [UInt8], charset: String?) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFE, 0xFF]) { return TextEncoding.utf16(isBigEndian: true).utf8(bytes.dropFirst(2)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return TextEncoding.utf16(isBigEndian: false).utf8(bytes.dropFirst(2)) }
        // The first character of a document is `<`.
        if bytes.starts(with: [0, 0x3C]) { return TextEncoding.utf16(isBigEndian: true).utf8(bytes[...]) }
        if bytes.starts(with: [0x3C, 0]) { return TextEncoding.utf16(isBigEndian: false).utf8(bytes[...]) }
        let named = charset.flatMap { TextEncoding(named: $0) } ?? declaration(bytes).flatMap { TextEncoding(named: $0) }
        switch named {
        // A document whose declaration can be read has one byte for each character.
        case .single(let encoding) where !isUTF8(bytes) || !encoding.isWestern:
            return TextEncoding.single(encoding).utf8(bytes[...])
        case .utf8 where !isUTF8(bytes) && !hasUTF8(bytes), nil where !isUTF8(bytes) && !hasUTF8(bytes):
            return TextEncoding.single(Self.windows1252).utf8(bytes[...])
        case .single, .utf8, .utf16, nil: return bytes
        }
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool { (try? UTF8Span(validating: bytes.span)) != nil }

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

    /// The encoding in the declaration of an XML document: `<?xml version="1.0" encoding="…"?>`.
    private static func declaration(_ bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(1024), as: UTF8.self)
        guard let start = head.firstRange(of: "<?xml"), let end = head[start.upperBound...].firstRange(of: "?>"),
            let name = head[start.upperBound..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let value = head[name.upperBound..<end.lowerBound].drop { $0 == " " || $0 == "=" }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }

    private func utf8(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .utf8: return Array(bytes)
        case .utf16(let isBigEndian):
            var units: [UInt16] = []
            units.reserveCapacity(bytes.count / 2)
            var index = bytes.startIndex
            while index + 1 < bytes.endIndex {
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                units.append(isBigEndian ? first << 8 | second : second << 8 | first)
                index += 2
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        case .single(let encoding):
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + bytes.count / 8)
            for byte in bytes {
                if byte < 0x80 { result.append(byte) } else { result += encoding.utf8[Int(byte - 0x80)] }
            }
            return result
        }
    }
}

/// An encoding with one byte for each character, whose first half is ASCII.
public struct SingleByteEncoding: Sendable, Equatable {
    /// The characters of the second half.
    private let scalars: [Unicode.Scalar]
    /// The UTF-8 of each.
    fileprivate let utf8: [[UInt8]]
    /// Whether it is a variant of ISO-8859-1. Many programs name that, and write UTF-8.
    fileprivate let isWestern: Bool

    fileprivate init(_ upper: String, isWestern: Bool = false) {
        scalars = Array(upper.unicodeScalars)
        utf8 = scalars.map { Array(String($0).utf8) }
        self.isWestern = isWestern
    }

    /// The character of a byte from 0x80.
    subscript(_ byte: UInt8) -> Unicode.Scalar { scalars[Int(byte) - 0x80] }
}

extension TextEncoding {
    /// windows-1252, which browsers also use for ISO-8859-1 (WHATWG Encoding Standard).
    static let windows1252 = SingleByteEncoding(
        """
        €\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯°±²³´µ¶\
        ·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ
        """, isWestern: true)
    /// ISO-8859-2.
    static let latin2 = SingleByteEncoding(
        """
        \u{80}\u{81}\u{82}\u{83}\u{84}\u{85}\u{86}\u{87}\u{88}\u{89}\u{8A}\u{8B}\u{8C}\u{8D}\u{8E}\u{8F}\
        \u{90}\u{91}\u{92}\u{93}\u{94}\u{95}\u{96}\u{97}\u{98}\u{99}\u{9A}\u{9B}\u{9C}\u{9D}\u{9E}\u{9F}\
        \u{A0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{AD}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řů\
        úűüýţ˙
        """)
    /// ISO-8859-15.
    static let latin9 = SingleByteEncoding(
        """
        \u{80}\u{81}\u{82}\u{83}\u{84}\u{85}\u{86}\u{87}\u{88}\u{89}\u{8A}\u{8B}\u{8C}\u{8D}\u{8E}\u{8F}\
        \u{90}\u{91}\u{92}\u{93}\u{94}\u{95}\u{96}\u{97}\u{98}\u{99}\u{9A}\u{9B}\u{9C}\u{9D}\u{9E}\u{9F}\
        \u{A0}¡¢£€¥Š§š©ª«¬\u{AD}®¯°±²³Žµ¶·ž¹º»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øù\
        úûüýþÿ
        """, isWestern: true)
    /// windows-1250.
    static let windows1250 = SingleByteEncoding(
        """
        €\u{FFFD}‚\u{FFFD}„…†‡\u{FFFD}‰Š‹ŚŤŽŹ\u{FFFD}‘’“”•–—\u{FFFD}™š›śťžź\u{A0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{AD}®Ż°±˛ł´µ¶\
        ·¸ąş»Ľ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙
        """)
    /// windows-1251.
    static let windows1251 = SingleByteEncoding(
        """
        ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\u{FFFD}™љ›њќћџ\u{A0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{AD}®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТ\
        УФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя
        """)
    /// KOI8-R.
    static let koi8 = SingleByteEncoding(
        """
        ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u{A0}⌡°²·÷═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©юабцдефгхийклмнопярстужвьызшэщч\
        ъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ
        """)
}
