/// The next step of a stream.
public enum StreamStep: Sendable {
    /// More bytes are ready: call `next` again when there is room.
    case more
    /// No bytes until the given time or a wake; nil: until a wake.
    case wait(until: ContinuousClock.Instant?)
    /// The stream has ended with the bytes so far.
    case end
    /// End the connection and discard its buffer: with an RST if `reset`, otherwise with a FIN after the bytes in the
    /// kernel. Without the proper end, the client notices that the body is incomplete.
    case abort(reset: Bool)
}
