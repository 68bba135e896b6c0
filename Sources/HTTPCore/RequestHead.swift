/// A request without its body: request-line and field section, and what they say about the connection.
public struct RequestHead: Sendable {
    /// What is asked for; case-sensitive.
    public var method: HTTPMethod
    /// What it is asked of.
    public var target: RequestTarget
    /// 1.0–1.9; anything from 1.1 on is treated as 1.1 (RFC 9110 §2.5).
    public var version: HTTPVersion
    /// The field section. Of a request in absolute-form, `Host` is the target's (RFC 9112 §3.2.2).
    public var fields: Fields
    /// Where the body ends.
    public var framing: BodyFraming
    /// Whether the client keeps the connection for another request: RFC 9112 §9.3.
    public var keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body: RFC 9110 §10.1.1. Never without a body.
    public var expectsContinue: Bool

    /// A head with the given parts; without any, `GET / HTTP/1.1` with no fields.
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
