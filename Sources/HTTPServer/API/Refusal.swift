public import HTTPCore

/// Why the server refuses a request before any application sees it: while parsing (400, 413, 414, 417, 431, 501, 505), for
/// being slow (408) or for being one too many (503).
public struct Refusal: Sendable {
    /// The status of the response.
    public let status: HTTPStatus
    /// What was wrong and what is accepted, as a sentence.
    public let detail: String

    /// A refusal with that status and explanation.
    public init(status: HTTPStatus, detail: String) {
        self.status = status
        self.detail = detail
    }
}
