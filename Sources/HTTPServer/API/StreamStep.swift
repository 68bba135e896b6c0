/// What a stream wants next.
public enum StreamStep: Sendable {
    /// There is more at once: call `next` again when there is room.
    case more
    /// Nothing to send until that time, or until the waker is used. Nil waits for the waker alone.
    case wait(until: ContinuousClock.Instant?)
    /// What has been appended so far is all.
    case end
    /// Break the connection off, what is buffered included: with an RST if `reset`, else with a FIN after what was
    /// already handed to the kernel. Without the proper end the client knows that the body is incomplete.
    case abort(reset: Bool)
}
