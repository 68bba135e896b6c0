/// JSON for programs whose output a person may look at.
public enum TerminalJSON {
    /// The same JSON, with an escape (RFC 8259 §7) for each character that could move a cursor, set a title, or turn text around.
    ///
    /// JSON has such characters in strings only, so programs read what they read before.
    public static func escaped(_ json: String) -> String {
        // Nearly all of it is ASCII, where JSON escapes the controls itself.
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
