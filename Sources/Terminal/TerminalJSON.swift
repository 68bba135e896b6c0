/// JSON for programs that may also appear on a terminal.
public enum TerminalJSON {
    /// The same JSON, with escapes (RFC 8259 §7) for characters that could move the cursor, set a title, or change the
    /// direction of text.
    ///
    /// In JSON such characters only occur in strings, so its meaning does not change.
    public static func escaped(_ json: String) -> String {
        // JSON is mostly ASCII, in which it escapes controls itself.
        if json.utf8.allSatisfy({ $0 < 0x7F }) { return json }
        var escaped = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if scalar == "\n" || TerminalText.isHarmless(scalar) {
                escaped.append(scalar)
            } else {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    let zeros = String(repeating: "0", count: 4 - digits.count)
                    escaped.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
                }
            }
        }
        return String(escaped)
    }
}
