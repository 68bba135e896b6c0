public import HTTPCore

/// What answers requests. One value serves all connections, from every event loop at once.
public protocol Application: Sendable {
    /// Answers one request, whose body is whole and within ``ServerLimits/body``.
    ///
    /// Called on an event loop's thread, so it must not block: what has to wait goes into ``Handling/later(_:)``. `response`
    /// comes empty (200, no fields, no body) and keeps the storage of earlier responses, so filling it usually allocates nothing.
    func respond(to request: borrowing Request, with response: inout Response) -> Handling

    /// Fills in the answer to a request that the server itself refuses. `response.status` is set; the application adds a body
    /// and its Content-Type. Called on an event loop's thread; must not block.
    func refuse(_ refusal: Refusal, with response: inout Response)
}

/// How an application answers.
public enum Handling: Sendable {
    /// `response` is filled in.
    case ready
    /// The work runs in a task, and what it returns is the response (the one passed to `respond` is ignored).
    ///
    /// The task is cancelled when the client leaves or the server's shutdown runs out of time; what it returns then is dropped.
    case later(@Sendable () async -> Response)
}

/// Why the server refuses a request before any application sees it: while parsing (400, 413, 414, 417, 431, 501, 505), for
/// being slow (408) or for being one too many (503).
public struct Refusal: Sendable {
    /// The status of the answer.
    public let status: HTTPStatus
    /// What was wrong and what is accepted, as a sentence.
    public let detail: String

    /// A refusal with that status and explanation.
    public init(status: HTTPStatus, detail: String) {
        self.status = status
        self.detail = detail
    }
}
