/// The error of a request as its client sees it (RFC 9457).
public struct Problem: Error, Sendable, Equatable {
    /// The kind of problem.
    public let code: ProblemCode
    /// The explanation of this occurrence in a sentence, with the values that would be accepted.
    public let detail: String
    /// The state of the download or item, if it is the cause.
    public let state: String?
    /// The id of the download concerned, if it helps the client.
    public let id: String?
    /// The status of the response: the code's own, unless the server has refused the request with another.
    public let status: HTTPStatus
    /// The fields of the response that this occurrence adds, such as Retry-After.
    public let fields: Fields

    /// Creates a problem.
    /// - Parameters:
    ///   - status: The status; `nil` for the code's own.
    ///   - retryAfter: The number of seconds after which the client should retry; `nil` for no field Retry-After.
    ///   - fields: The fields of the response, if there is no field Retry-After.
    public init(
        _ code: ProblemCode, _ detail: String, state: String? = nil, id: String? = nil, status: HTTPStatus? = nil,
        retryAfter: Int? = nil, fields: Fields = Fields()
    ) {
        (self.code, self.detail, self.state, self.id, self.status) = (code, detail, state, id, status ?? code.status)
        self.fields = retryAfter.map { Fields(.retryAfter, String($0)) } ?? fields
    }

    /// The value of Retry-After for a delay: seconds, rounded up, at least 1.
    public static func seconds(_ delay: Duration) -> Int {
        let (seconds, attoseconds) = delay.components
        return max(1, Int(clamping: attoseconds > 0 ? seconds &+ 1 : seconds))
    }
}
