/// What a terminal can show.
public struct Appearance: Sendable, Equatable {
    /// Whether characters beyond ASCII may be drawn by the program's own choice.
    public var isUnicode: Bool
    /// Whether styles are drawn.
    public var hasStyles: Bool

    /// An appearance from its parts.
    public init(isUnicode: Bool = false, hasStyles: Bool = false) {
        self.isUnicode = isUnicode
        self.hasStyles = hasStyles
    }

    /// What the environment says of a terminal: characters by the locale (POSIX: LC_ALL, then LC_CTYPE, then LANG), styles unless
    /// `NO_COLOR` is set or `TERM` is `dumb`.
    public init(environment variable: (String) -> String?, isTerminal: Bool) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { variable($0) }.first { !$0.isEmpty } ?? ""
        let charset = locale.lowercased()
        isUnicode = charset.hasSuffix("utf-8") || charset.hasSuffix("utf8") || charset.contains("utf-8@")
        let isPlain = variable("NO_COLOR").map { !$0.isEmpty } ?? false
        hasStyles = isTerminal && !isPlain && variable("TERM").map { $0 != "dumb" && !$0.isEmpty } ?? false
    }
}

/// How text stands out. Never the only way to say something: not everybody sees it.
public enum Style: Sendable, Hashable {
    /// As all else.
    case plain
    /// A heading.
    case bold
    /// Of less weight.
    case dim
    /// What is under way.
    case active
    /// What went well.
    case good
    /// What went wrong.
    case bad
    /// What waits.
    case waiting
    /// What is chosen.
    case selected

    /// ECMA-48 SGR parameters.
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
