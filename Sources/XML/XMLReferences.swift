/// References in text, such as `&amp;` and `&#233;`.
enum XMLReferences {
    /// The maximum length of a reference, with ampersand and semicolon, zeros in front included.
    private static let longest = 12

    /// Replaces the references in a text.
    /// - Parameter isTolerant: Whether references of HTML are replaced as well. Unknown ones stay as they are written.
    static func decoded(_ raw: ArraySlice<UInt8>, isTolerant: Bool) -> String {
        guard raw.contains(UInt8(ascii: "&")) else { return String(decoding: raw, as: UTF8.self) }
        var result = ""
        var rest = raw
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(decoding: rest[..<ampersand], as: UTF8.self)
            if let (scalar, end) = reference(in: rest[ampersand...], isTolerant: isTolerant) {
                result.unicodeScalars.append(scalar)
                rest = rest[end...]
            } else {
                result += "&"
                rest = rest[(ampersand + 1)...]
            }
        }
        return result + String(decoding: rest, as: UTF8.self)
    }

    /// Checks that a text has only references of XML.
    static func check(_ raw: ArraySlice<UInt8>) throws(XMLReader.ParsingError) {
        var rest = raw
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            guard let (_, end) = reference(in: rest[ampersand...], isTolerant: false) else {
                throw XMLReader.ParsingError("it has an unknown entity")
            }
            rest = rest[end...]
        }
    }

    /// Returns the character of the reference at the start of the bytes, and the index behind it.
    private static func reference(
        in bytes: ArraySlice<UInt8>, isTolerant: Bool
    ) -> (scalar: Unicode.Scalar, end: Int)? {
        let piece = bytes.prefix(longest)
        guard let end = piece.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: piece[(bytes.startIndex + 1)..<end], as: UTF8.self)
        let scalar =
            if name.hasPrefix("#") {
                number(name.dropFirst(), isTolerant: isTolerant)
            } else {
                isTolerant ? HTMLEntities.scalar(named: name) : predefined[name]
            }
        return scalar.map { ($0, end + 1) }
    }

    private static let predefined: [String: Unicode.Scalar] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private static func number(_ digits: Substring, isTolerant: Bool) -> Unicode.Scalar? {
        let isHexadecimal = digits.hasPrefix("x") || isTolerant && digits.hasPrefix("X")
        let value = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let value else { return nil }
        // Programs write the characters of windows-1252 like this, and browsers show them.
        if isTolerant, (0x80...0x9F).contains(value) { return TextEncoding.windows1252(UInt8(value)) }
        return Unicode.Scalar(value)
    }
}
