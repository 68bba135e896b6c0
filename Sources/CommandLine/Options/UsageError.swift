internal import Terminal

/// An error in a command line or an environment, in exactly one line of text.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, which names the mistake and the accepted values.
    public let description: String

    /// Creates an error. Line breaks and control characters become `?`.
    init(_ line: String) {
        description = TerminalText(line).string
    }
}
