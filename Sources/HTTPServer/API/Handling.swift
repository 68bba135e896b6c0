/// The way in which an application responds.
public enum Handling: Sendable {
    /// The `response` argument is complete.
    case ready
    /// A task does the work and returns the response; the `response` argument is ignored.
    ///
    /// The task is cancelled when the client leaves, or at the time limit of the server's shutdown. Its response is
    /// then discarded.
    case later(@Sendable () async -> Response)
    /// The same for a client that has not proved that it may have its response: the connection gives way to new ones
    /// until the task returns.
    case laterForStranger(@Sendable () async -> Response)
}
