/// What is wrong with a command line or an environment, in exactly one line.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line that names what is wrong and what is accepted.
    public let description: String

    /// Takes the line; whatever would break it in two, or play tricks on a terminal, becomes `?`.
    init(_ line: String) {
        var legal = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            let isControl =
                scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
                || scalar.value == 0x2029
            legal.append(isControl ? "?" : scalar)
        }
        description = String(legal)
    }
}
