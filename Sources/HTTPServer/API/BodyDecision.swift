/// What an application does about a body that a request announces.
public enum BodyDecision: Sendable {
    /// It is read, and then responded to the whole.
    case read
    /// It means nothing: `respond` is called at once, with an empty body. The connection closes after the response, and what the client
    /// still sends is dropped.
    case ignore
    /// The response that is filled in is sent at once. The connection closes after it as well.
    case refuse
}
