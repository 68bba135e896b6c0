internal import Terminal

/// What is wrong with a command line or an environment, in exactly one line.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line that names what is wrong and what is accepted.
    public let description: String

    /// Takes the line; whatever would break it in two, or play tricks on a terminal, becomes `?`.
    init(_ line: String) {
        description = TerminalText(line).string
    }
}
