/// An error of a connection to PostgreSQL. Messages have one line and never contain the password.
public enum PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// libpq is missing or too old; the text includes the remedy.
    case library(String)
    /// The connection string or a parameter of a command is invalid, so a repetition would fail as well.
    case invalid(String)
    /// The connection failed or broke; sent commands may or may not have taken effect.
    case unavailable(String)
    /// The time is over and the connection is closed; sent commands may or may not have taken effect.
    case timedOut
    /// The server refused a command; the connection remains usable.
    /// - Parameters:
    ///   - sqlState: Five characters (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    ///   - message: The primary message, without details, which may contain values.
    case server(sqlState: String, message: String)

    /// The message for people.
    public var description: String {
        switch self {
        case .library(let message), .invalid(let message), .unavailable(let message): message
        case .timedOut: "PostgreSQL did not respond in time"
        case .server(let sqlState, let message): "\(message) (SQLSTATE \(sqlState))"
        }
    }

    /// A message of libpq in one line: without line breaks and indentation.
    static func oneLine(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
