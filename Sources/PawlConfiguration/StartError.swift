internal import Terminal

/// The reason why the program does not start, in one line.
public struct StartError: Error, Sendable, CustomStringConvertible {
    /// The line of text.
    public let description: String

    /// Creates an error. Line breaks and control characters become `?`.
    public init(_ description: String) {
        self.description = TerminalText(description).string
    }
}
