/// How a response wants to be kept, and under which name: RFC 6266, with the extended values of RFC 8187.
///
/// The name is what was sent, and nothing that a file may be called without being made safe: it can hold slashes, dots,
/// controls and characters that some systems refuse.
public struct ContentDisposition: Sendable, Hashable {
    /// `attachment`, `inline` or an extension, in lowercase.
    public let type: String
    /// Decoded; nil if none was sent, or none that can be read. Never empty.
    public let filename: String?

    /// Reads a value as tolerantly as browsers do; nil only if there isn't even a type or a parameter.
    ///
    /// `filename*` wins over `filename` (RFC 6266 §4.3), unless its charset isn't UTF-8 or ISO-8859-1 or its escapes are bad.
    /// A missing type is `attachment`, for the name shows what is meant. Of repeated parameters the first counts.
    /// `filename` may be percent-encoded without saying so, as browsers accept, or hold RFC 2047 words, which are left alone.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)[...].trimmingWhiteSpace
        let typeEnd = bytes.firstIndex(of: ASCII.semicolon) ?? bytes.endIndex
        let typeText = bytes[..<typeEnd].trimmingWhiteSpace
        let parameters: Parameters
        if !typeText.isEmpty, typeText.allSatisfy({ ByteSet.token.contains($0) }) {
            type = String(decoding: typeText.map(ASCII.lowercased), as: UTF8.self)
            parameters = Parameters(bytes[typeEnd...].dropFirst())
        } else if typeText.isEmpty || typeText.contains(ASCII.equals) {
            type = "attachment"
            parameters = Parameters(bytes)
        } else {
            return nil
        }
        var plain: String?
        var extended: String?
        var isEmpty = true
        for (name, value) in parameters {
            isEmpty = false
            switch name {
            case "filename" where plain == nil: plain = ContentDisposition.plainName(value)
            case "filename*" where extended == nil: extended = ContentDisposition.extendedName(value)
            default: break
            }
        }
        if typeText.isEmpty, isEmpty { return nil }
        filename = extended ?? plain
    }

    /// The name of a `filename`, in whatever its sender took for its encoding.
    private static func plainName(_ value: [UInt8]) -> String? {
        let text = String(fieldText: value)
        guard !text.isEmpty else { return nil }
        // Not in the RFC, but sent by many and undone by Chromium: a name that is nothing but ASCII with good escapes.
        if value.contains(ASCII.percent), value.allSatisfy({ $0 < 0x80 }), let decoded = PercentEncoding.decode(value),
            !decoded.isEmpty
        {
            return decoded
        }
        return text
    }

    /// The name of a `filename*`: `charset'language'percent-encoded`, RFC 8187 §3.2.
    private static func extendedName(_ value: [UInt8]) -> String? {
        let apostrophe = UInt8(ascii: "'")
        guard let charsetEnd = value.firstIndex(of: apostrophe),
            let languageEnd = value[(charsetEnd + 1)...].firstIndex(of: apostrophe),
            let bytes = PercentEncoding.decodeBytes(value[(languageEnd + 1)...]), !bytes.isEmpty
        else { return nil }
        let charset = value[..<charsetEnd].trimmingWhiteSpace
        if charset.equalsIgnoringCase("utf-8") { return String(validUTF8: bytes.span) }
        if charset.equalsIgnoringCase("iso-8859-1") {
            return String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
        }
        return nil
    }

    /// The value that has a browser save the response under that name.
    public static func attachment(filename: String) -> String {
        value("attachment", filename)
    }

    /// The value that has a browser show the response, and save it under that name if asked to.
    public static func inline(filename: String) -> String {
        value("inline", filename)
    }

    /// RFC 6266 §5 and appendix D: a plain name of safe ASCII for old recipients, and if that isn't the whole truth, the
    /// extended one behind it.
    private static func value(_ type: String, _ filename: String) -> String {
        var plain: [UInt8] = []
        var isExact = true
        for scalar in filename.unicodeScalars {
            // Quotes, backslashes and percent signs are read in several ways by several browsers.
            if scalar.value >= 0x20, scalar.value < 0x7F, scalar != "\"", scalar != "\\", scalar != "%" {
                plain.append(UInt8(scalar.value))
            } else {
                plain.append(UInt8(ascii: "_"))
                isExact = false
            }
        }
        guard !plain.isEmpty else { return type }
        let quoted = "\(type); filename=\"\(String(decoding: plain, as: UTF8.self))\""
        if isExact { return quoted }
        return quoted + "; filename*=UTF-8''" + PercentEncoding.encode(filename.utf8, keeping: .extendedParameter)
    }
}
