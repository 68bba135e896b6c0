/// An application's decision on a request's body.
public enum BodyDecision: Sendable {
    /// The body is read, and `respond` is called with the whole.
    case read
    /// The body is ignored, and `respond` is called immediately with an empty one. The connection closes after the
    /// response, and further bytes of the client are discarded.
    case ignore
    /// The filled-in response is sent immediately. The connection closes after it.
    case refuse
}
