/// Text that may be shown on a terminal: whatever it was made of, it moves no cursor, sets no title, and turns no text around.
///
/// Names, reasons and addresses come from strangers. Nothing but this type is ever drawn, and it is made harmless when it is made.
public struct TerminalText: Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public let string: String
    /// Its columns.
    public let width: Int

    /// Takes any text. Controls (C0, DEL, C1), line and paragraph separators, and what changes the direction of text or is not
    /// visible at all become `?`.
    public init(_ text: some StringProtocol) {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            string = String(text)
            width = text.utf8.count
            return
        }
        var legal = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { legal.append(Self.isHarmless(scalar) ? scalar : "?") }
        var string = String(legal)
        // A mark without a base would be drawn onto what stands before the text.
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

    /// The text, with its end left out where it takes more than `limit` columns.
    public func truncated(to limit: Int, _ appearance: Appearance) -> TerminalText {
        guard width > limit else { return self }
        let mark = Self.mark(within: limit, appearance)
        return TerminalText(trusted: Self.prefix(string, limit - mark.count) + mark)
    }

    /// The text, with its middle left out where it takes more than `limit` columns: beginning and extension are what tells
    /// files apart.
    public func shortened(to limit: Int, _ appearance: Appearance) -> TerminalText {
        guard width > limit else { return self }
        let mark = Self.mark(within: limit, appearance)
        let room = limit - mark.count
        let head = Self.prefix(string, room - room / 2)
        return TerminalText(trusted: head + mark + Self.suffix(string, room / 2))
    }

    /// The text with spaces behind it, or before it, up to `width` columns.
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

    /// The first characters that take no more than `limit` columns.
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
        // Joiners make letters and emoji of several scalars; all other format characters are invisible or turn text around.
        case .format: scalar.value == 0x200C || scalar.value == 0x200D
        default: true
        }
    }
}

extension TerminalText: ExpressibleByStringLiteral {
    /// The program's own words.
    public init(stringLiteral value: String) { self.init(value) }
}
