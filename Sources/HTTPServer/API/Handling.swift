/// How an application responds.
public enum Handling: Sendable {
    /// `response` is filled in.
    case ready
    /// The work runs in a task, and what it returns is the response (the one passed to `respond` is ignored).
    ///
    /// The task is cancelled when the client leaves or the server's shutdown runs out of time; what it returns then is dropped.
    case later(@Sendable () async -> Response)
}
