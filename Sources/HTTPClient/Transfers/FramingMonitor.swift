/// Detects an origin whose chunked body consists of little but framing: chunk extensions have no limit of their own
/// (RFC 9112 §7.1.1). It has no I/O: the time and the numbers of bytes are parameters.
struct FramingMonitor: Sendable {
    /// The time between two comparisons.
    static let interval = Duration.seconds(1)
    /// The maximum bytes of framing, for a body of any length.
    static let allowance: Int64 = 1 << 20
    /// The maximum additional bytes of framing per byte of the body. One-byte chunks in TLS records of their own have
    /// about 35.
    static let allowancePerByte: Int64 = 64

    /// The time of the next comparison.
    private(set) var due: ContinuousClock.Instant
    /// The numbers of bytes at the first comparison.
    private var first: (received: Int64, body: Int64)?

    /// Creates a monitor at the beginning of a body.
    init(now: ContinuousClock.Instant) {
        due = now + Self.interval
    }

    /// Compares the bytes of the connection with the bytes of the body.
    /// - Parameters:
    ///   - received: The bytes read from the connection so far, including other responses.
    ///   - body: The bytes of the body so far.
    ///   - now: The current time.
    /// - Returns: Whether the framing exceeds its limit.
    mutating func isExceeded(received: Int64, body: Int64, now: ContinuousClock.Instant) -> Bool {
        guard now >= due else { return false }
        due = now + Self.interval
        guard let first else {
            first = (received, body)
            return false
        }
        let content = body - first.body
        return (received - first.received - content - Self.allowance) / Self.allowancePerByte > content
    }
}
