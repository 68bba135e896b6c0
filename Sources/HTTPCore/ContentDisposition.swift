/// The disposition and file name of a response: RFC 6266, with the extended values of RFC 8187.
///
/// The name is as sent, and is not safe as a file name. It can contain slashes, dots, controls and characters that some
/// systems refuse.
public struct ContentDisposition: Sendable, Hashable {
    /// `attachment`, `inline` or an extension, in lowercase.
    public let type: String
    /// The decoded name, never empty; nil if none was sent or none can be decoded.
    public let filename: String?

    /// Parses a value as tolerantly as browsers do. Nil if it has neither a type nor a parameter, or if its type is not
    /// a token.
    ///
    /// `filename*` takes precedence over `filename` (RFC 6266 §4.3). It is ignored if its charset is neither UTF-8 nor
    /// ISO-8859-1, or if its escapes are invalid. A missing type is `attachment`. Of repeated parameters, the first
    /// counts. A `filename` may be percent-encoded, as browsers accept. RFC 2047 words in it are not decoded.
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

    /// The name in a `filename`, as UTF-8 or else ISO-8859-1.
    private static func plainName(_ value: [UInt8]) -> String? {
        let text = String(fieldText: value)
        guard !text.isEmpty else { return nil }
        // The RFC lacks this, but many servers send it and Chromium decodes it: a name of ASCII only, with valid
        // escapes.
        if value.contains(ASCII.percent), value.allSatisfy({ $0 < 0x80 }), let decoded = PercentEncoding.decode(value),
            !decoded.isEmpty
        {
            return decoded
        }
        return text
    }

    /// The name in a `filename*`: `charset'language'percent-encoded`, RFC 8187 §3.2.
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

    /// The value that makes a browser save the response under the name.
    public static func attachment(filename: String) -> String {
        value("attachment", filename)
    }

    /// The value that makes a browser display the response, and save it under the name on request.
    public static func inline(filename: String) -> String {
        value("inline", filename)
    }

    /// The value with a plain name of safe ASCII for old recipients (RFC 6266 §5 and appendix D). The extended name
    /// follows if the two differ.
    private static func value(_ type: String, _ filename: String) -> String {
        var plain: [UInt8] = []
        var isExact = true
        for scalar in filename.unicodeScalars {
            // Browsers differ in how they read quotes, backslashes and percent signs. gPodder cuts a name where a URL's
            // path ends.
            if scalar.value >= 0x20, scalar.value < 0x7F, !["\"", "\\", "%", "#", "?", ";"].contains(scalar) {
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
