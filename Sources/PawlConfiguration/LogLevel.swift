/// The severity of a log line, in ascending order.
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

    /// Compares by severity.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// For machines: one JSON object.
    case json
}
