/// The head of a request: its request line and fields, and their effect on the connection.
public struct RequestHead: Sendable {
    /// The method, which is case-sensitive.
    public var method: HTTPMethod
    /// The target.
    public var target: RequestTarget
    /// The version, 1.0–1.9. All versions from 1.1 on are treated as 1.1 (RFC 9110 §2.5).
    public var version: HTTPVersion
    /// The fields. For a target in absolute-form, `Host` is the target's (RFC 9112 §3.2.2).
    public var fields: Fields
    /// The framing, which determines the end of the body.
    public var framing: BodyFraming
    /// Whether the client allows another request on the connection: RFC 9112 §9.3.
    public var keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body: RFC 9110 §10.1.1. Always false without a
    /// body.
    public var expectsContinue: Bool

    /// Creates a head from its parts. The default is `GET / HTTP/1.1` without fields.
    public init(
        method: HTTPMethod = .get, target: RequestTarget = RequestTarget(), version: HTTPVersion = .http11,
        fields: Fields = Fields(), framing: BodyFraming = .none, keepsAlive: Bool = true, expectsContinue: Bool = false
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.framing = framing
        self.keepsAlive = keepsAlive
        self.expectsContinue = expectsContinue
    }
}
