/// A body that is made while the socket takes it.
///
/// Methods are called on one event loop's thread, one at a time, and must not block. The server asks only while there is room,
/// so a client that reads slowly slows the stream down and costs no memory.
public protocol BodyStream: AnyObject, Sendable {
    /// The body is about to be sent. Called once, before the first `next`, and not at all if there is nobody to send it to
    /// (HEAD, or the client left). `waker` may be used from any thread.
    func opened(_ waker: StreamWaker)

    /// Appends at most `limit` bytes of the body to `buffer` and says what is next. `buffer` may hold other bytes already, which
    /// stay as they are.
    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep

    /// The server is shutting down in an orderly way. `next` follows; a stream without a natural end should end there.
    func serverIsStopping()

    /// It is over: finished, broken off, or the client left. Called exactly once, also if `opened` never was.
    func closed()
}
