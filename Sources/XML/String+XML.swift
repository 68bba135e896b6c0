extension String {
    /// The text as XML's character data, or as the value of an attribute, without the control characters that XML cannot
    /// have.
    public var xmlEscaped: String {
        guard utf8.contains(where: { $0 < 0x20 || $0 == 0xEF || "&<>\"".utf8.contains($0) }) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result.xmlCharacters
    }

    /// The text with the characters that XML can have.
    public var xmlCharacters: String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r", " "..<"\u{FFFE}", "\u{10000}"...: result.append(scalar)
            case "\u{FFFE}", "\u{FFFF}": result.append("\u{FFFD}")
            default: break
            }
        }
        return String(result)
    }
}
