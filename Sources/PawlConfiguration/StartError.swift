internal import Terminal

/// Why the program does not start its work, in one line.
public struct StartError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// Takes the line; whatever would break it in two, or play tricks on a terminal, becomes `?`.
    public init(_ description: String) {
        self.description = TerminalText(description).string
    }
}
