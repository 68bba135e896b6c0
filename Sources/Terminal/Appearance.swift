/// The capabilities of a terminal.
public struct Appearance: Sendable, Equatable {
    /// Whether the program may draw characters beyond ASCII.
    public var isUnicode: Bool
    /// Whether styles are drawn.
    public var hasStyles: Bool

    /// Creates an appearance from its parts.
    public init(isUnicode: Bool = false, hasStyles: Bool = false) {
        self.isUnicode = isUnicode
        self.hasStyles = hasStyles
    }

    /// Derives the appearance from the environment. The locale decides about characters (POSIX: LC_ALL, then LC_CTYPE,
    /// then LANG). Styles are drawn unless `NO_COLOR` is set or `TERM` is `dumb`.
    public init(environment variable: (String) -> String?, isTerminal: Bool) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { variable($0) }.first { !$0.isEmpty } ?? ""
        // A modifier such as `@euro` may follow.
        let charset = locale.lowercased().prefix { $0 != "@" }
        isUnicode = charset.hasSuffix("utf-8") || charset.hasSuffix("utf8")
        let isPlain = variable("NO_COLOR").map { !$0.isEmpty } ?? false
        hasStyles = isTerminal && !isPlain && variable("TERM").map { $0 != "dumb" && !$0.isEmpty } ?? false
    }
}

/// The style of text. Styles never carry information of their own, since not every user can see them.
public enum Style: Sendable, Hashable {
    /// Ordinary text.
    case plain
    /// A heading.
    case bold
    /// Less important text.
    case dim
    /// A running transfer.
    case active
    /// A success.
    case good
    /// A failure.
    case bad
    /// A state of waiting.
    case waiting
    /// A selected line.
    case selected

    /// The parameters of the ECMA-48 SGR sequence.
    var parameters: String {
        switch self {
        case .plain: "0"
        case .bold: "1"
        case .dim: "2"
        case .active: "36"
        case .good: "32"
        case .bad: "31"
        case .waiting: "33"
        case .selected: "7"
        }
    }
}
