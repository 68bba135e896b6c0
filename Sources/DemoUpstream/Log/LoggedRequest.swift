public import HTTPCore

/// A request that the demo upstream got, and what became of it.
public struct LoggedRequest: Sendable {
    /// As sent: `GET`.
    public let method: String
    /// As sent, with its query.
    public let target: String
    /// All fields of the request.
    public let fields: Fields
    /// The status of the answer.
    public let status: Int
    /// How many bytes of the answer's body were handed to the connection so far; the last of them may not have arrived.
    public let bytesSent: Int64
    /// Whether the answer has ended, in whatever way.
    public let isFinished: Bool

    /// The Range field, as sent.
    public var range: String? { fields[.range] }
    /// The If-Range field, as sent.
    public var ifRange: String? { fields[.ifRange] }
    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }
}

extension LoggedRequest: CustomStringConvertible {
    /// One line: `GET /large/field-recording-1.bin bytes=1048576- → 206, 524288 bytes sent`.
    public var description: String {
        "\(method) \(target)\(range.map { " " + $0 } ?? "") → \(status), \(bytesSent) bytes sent"
    }
}
