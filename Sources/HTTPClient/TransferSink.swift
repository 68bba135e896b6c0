/// The receiver of a transfer's head, body and end. The calls do not overlap: the head, bytes in order, then
/// `finished`.
public protocol TransferSink: AnyObject, Sendable {
    /// Receives the final head. Called on the transfer thread; must not block.
    func received(_ head: ClientResponseHead) -> SinkDecision
    /// Receives the head of a redirect that is followed, before the next request. Called on the transfer thread; must
    /// not block.
    func redirected(by head: ClientResponseHead)
    /// Returns the length that a wait for the head, or for bytes of the body, may have although it has exceeded the
    /// request's limit; nil: the transfer ends. Called on the transfer thread; must not block.
    func extendedLimit() -> Duration?
    /// Receives the next bytes of the body, which are valid only during the call. They come from one read: some hundred
    /// KiB at most.
    ///
    /// Called often, on the transfer thread; may write to a file. Nothing more is read before it returns, so a slow disk slows
    /// the origin down.
    func received(_ bytes: RawSpan) -> SinkDecision
    /// Receives the end, as the last call and exactly once. Called on the transfer thread. Only for a transfer that is
    /// started after ``HTTPClient/shutdown()``, it is called on the caller's thread.
    func finished(_ outcome: Result<TransferSummary, ClientError>)
}

extension TransferSink {
    /// Ignores the redirect.
    public func redirected(by head: ClientResponseHead) {}
    /// Extends no limit.
    public func extendedLimit() -> Duration? { nil }
}

/// The decision whether a transfer continues.
public enum SinkDecision: Sendable {
    /// The transfer continues.
    case proceed
    /// The transfer ends as ``ClientError/stopped``.
    case stop
}

/// The result of a transfer that succeeded.
public struct TransferSummary: Sendable {
    /// The final head.
    public var head: ClientResponseHead
    /// The bytes of the body that the sink has received.
    public var bodyBytes: Int64
    /// Whether the body ended with its connection, and TLS did not confirm that end (RFC 8446 §6.1). libcurl before
    /// version 8 does not tell.
    public var lacksCloseNotify = false
}
