/// What went wrong with a connection to PostgreSQL. No message has the password in it, and each is one line.
public enum PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// libpq is missing or too old: what to do about it.
    case library(String)
    /// The connection string, or a parameter of a command, is not one: asking again is of no use.
    case invalid(String)
    /// There could be no connection, or it broke: what was sent may or may not have happened.
    case unavailable(String)
    /// The time was over: what was sent may or may not have happened, and the connection is closed.
    case timedOut
    /// The server refused a command; the connection is as usable as before.
    /// - Parameters:
    ///   - sqlState: five characters (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    ///   - message: the primary message, without details, which may hold values.
    case server(sqlState: String, message: String)

    /// What to tell people.
    public var description: String {
        switch self {
        case .library(let message), .invalid(let message), .unavailable(let message): message
        case .timedOut: "PostgreSQL did not answer in time"
        case .server(let sqlState, let message): "\(message) (SQLSTATE \(sqlState))"
        }
    }

    /// A message of libpq's, which ends its lines and indents some, on one line.
    static func oneLine(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
