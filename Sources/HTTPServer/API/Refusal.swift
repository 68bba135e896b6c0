public import HTTPCore

/// The reason why the server refuses a request without the application: a parse error (400, 413, 414, 417, 431, 501,
/// 505), slowness (408), or a surplus connection (503).
public struct Refusal: Sendable {
    /// The status of the response.
    public let status: HTTPStatus
    /// The fault and the accepted form, as a sentence.
    public let detail: String

    /// Creates a refusal.
    public init(status: HTTPStatus, detail: String) {
        self.status = status
        self.detail = detail
    }
}
