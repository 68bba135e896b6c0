/// Notices when an origin sends a body in chunks that consist of little but framing: chunk extensions have no bound of their own
/// (RFC 9112 §7.1.1). Pure: it is told the time and the numbers of bytes so far.
struct FramingMonitor: Sendable {
    /// The time between two comparisons.
    static let interval = Duration.seconds(1)
    /// Bytes that may come besides the body, whatever its length.
    static let most: Int64 = 1 << 20
    /// Bytes that may come besides for each byte of the body: chunks of one byte in TLS records of their own have about 35.
    static let mostPerByte: Int64 = 64

    /// The time of the next comparison.
    private(set) var due: ContinuousClock.Instant
    /// The numbers of the first comparison.
    private var first: (received: Int64, body: Int64)?

    /// Begins with the body.
    init(now: ContinuousClock.Instant) {
        due = now + Self.interval
    }

    /// Compares what has come on the connection with what of it belongs to the body.
    /// - Parameters:
    ///   - received: bytes that have been read from the connection so far, other responses' too.
    ///   - body: bytes of the body so far.
    /// - Returns: whether too much of it was framing.
    mutating func isExceeded(received: Int64, body: Int64, now: ContinuousClock.Instant) -> Bool {
        guard now >= due else { return false }
        due = now + Self.interval
        guard let first else {
            first = (received, body)
            return false
        }
        let content = body - first.body
        return (received - first.received - content - Self.most) / Self.mostPerByte > content
    }
}
