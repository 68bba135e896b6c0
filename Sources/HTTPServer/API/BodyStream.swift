/// A body that is generated while the socket accepts it.
///
/// Methods are called on one event loop's thread, one at a time, and must not block. The server calls `next` only while
/// there is room. So a slow client slows the stream down and costs no memory.
public protocol BodyStream: AnyObject, Sendable {
    /// Prepares for sending. Called once, before the first `next`; not called if the body is not sent (HEAD, or the
    /// client left). `waker` may be used on any thread.
    func opened(_ waker: StreamWaker)

    /// Appends at most `limit` bytes of the body to `buffer`, and returns the next step. `buffer` may contain other
    /// bytes, which must not change.
    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep

    /// The number of bytes that the next calls of `next` return, and that belong to one chunk with the bytes before them.
    /// Some clients take a chunk for a message. Only 0 may come with a step that does not continue.
    var rest: Int { get }

    /// Announces an orderly shutdown of the server. `next` follows; a stream without a natural end should end there.
    func serverIsStopping()

    /// Ends the stream: it has finished or was interrupted, or the client left. Called exactly once, even without
    /// `opened`.
    func closed()
}

extension BodyStream {
    /// No bytes, for streams whose chunks mean nothing.
    public var rest: Int { 0 }
}
