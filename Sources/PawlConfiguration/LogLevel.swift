/// How severe a line of the log is, least first.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// Orders by severity.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// How a line of the log is written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// For machines: one JSON object.
    case json
}
