/// Takes what a transfer brings. All calls come one after another: the head, bytes in order, and `finished`.
public protocol TransferSink: AnyObject, Sendable {
    /// The final head. Called on the transfer thread; must not block.
    func received(_ head: ClientResponseHead) -> SinkDecision
    /// The next bytes of the body, which are valid during the call only: what one reading brought, some hundred KiB at most. Called
    /// on the transfer thread, often; may write to a file.
    /// As long as it runs nothing more is read, so a slow disk slows the origin down.
    func received(_ bytes: RawSpan) -> SinkDecision
    /// The end: exactly once, and last. Called on the transfer thread; only for a transfer that is started after
    /// ``HTTPClient/shutdown()``, on the caller's.
    func finished(_ outcome: Result<TransferSummary, ClientError>)
}

/// Whether a transfer goes on.
public enum SinkDecision: Sendable {
    /// More, please.
    case proceed
    /// End now, as ``ClientError/stopped``.
    case stop
}

/// What is known of a transfer that succeeded.
public struct TransferSummary: Sendable {
    /// The final head.
    public var head: ClientResponseHead
    /// How many bytes of body the sink has received.
    public var bodyBytes: Int64

    /// A summary from its parts.
    public init(head: ClientResponseHead, bodyBytes: Int64) {
        self.head = head
        self.bodyBytes = bodyBytes
    }
}
