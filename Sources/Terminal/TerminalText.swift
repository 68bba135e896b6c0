/// Text that is safe to write to a terminal: it cannot move the cursor, set a title, or change the direction of text.
///
/// Names, reasons and addresses come from untrusted sources. Only this type is drawn, and its initialiser replaces
/// unsafe characters.
public struct TerminalText: Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public let string: String
    /// The width in columns.
    public let width: Int

    /// Creates a text. Controls (C0, DEL, C1), line and paragraph separators, and characters that are invisible or
    /// change the direction of text become `?`.
    public init(_ text: some StringProtocol) {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            string = String(text)
            width = text.utf8.count
            return
        }
        var legal = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { legal.append(Self.isHarmless(scalar) ? scalar : "?") }
        var string = String(legal)
        // A mark without a base would combine with the preceding text.
        if let first = string.first, DisplayWidth.of(first) == 0 { string = "?" + string }
        self.string = string
        width = DisplayWidth.of(string)
    }

    private init(trusted string: String) {
        self.string = string
        width = DisplayWidth.of(string)
    }

    /// The text.
    public var description: String { string }

    /// The text, cut at its end to at most `limit` columns.
    public func truncated(to limit: Int, _ appearance: Appearance) -> TerminalText {
        guard width > limit else { return self }
        let mark = Self.mark(within: limit, appearance)
        return TerminalText(trusted: Self.prefix(string, limit - mark.count) + mark)
    }

    /// The text, cut in its middle to at most `limit` columns: the beginning and the extension distinguish files.
    public func shortened(to limit: Int, _ appearance: Appearance) -> TerminalText {
        guard width > limit else { return self }
        let mark = Self.mark(within: limit, appearance)
        let room = limit - mark.count
        let head = Self.prefix(string, room - room / 2)
        return TerminalText(trusted: head + mark + Self.suffix(string, room / 2))
    }

    /// The text, padded with spaces on the right or left to `width` columns.
    public func padded(to width: Int, isRight: Bool = false) -> TerminalText {
        let spaces = String(repeating: " ", count: max(0, width - self.width))
        return TerminalText(trusted: isRight ? spaces + string : string + spaces)
    }

    private static func mark(within limit: Int, _ appearance: Appearance) -> String {
        let mark = appearance.isUnicode ? "…" : "..."
        return limit > mark.count + 1 ? mark : ""
    }

    private static func prefix(_ text: String, _ limit: Int) -> String {
        String(fitting(text, limit))
    }

    private static func suffix(_ text: String, _ limit: Int) -> String {
        String(fitting(text.reversed(), limit).reversed())
    }

    /// The first characters that fit into `limit` columns.
    private static func fitting(_ text: some Sequence<Character>, _ limit: Int) -> [Character] {
        var room = limit
        return Array(
            text.prefix { character in
                room -= DisplayWidth.of(character)
                return room >= 0
            })
    }

    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        // Joiners are part of letters and emoji. All other format characters are invisible or change the direction of
        // text.
        case .format: scalar.value == 0x200C || scalar.value == 0x200D
        default: true
        }
    }
}

extension TerminalText: ExpressibleByStringLiteral {
    /// Creates a text from a literal.
    public init(stringLiteral value: String) { self.init(value) }
}
