public import HTTPCore

/// A response, as an application makes it.
///
/// `Date`, `Content-Length`, `Transfer-Encoding`, `Connection`, `X-Request-Id` and `X-Content-Type-Options` are the server's:
/// it sets them on every response and drops them from `fields`. HEAD is handled as GET is, and the server leaves the body out.
/// So it does with 204 and 304.
public struct Response: Sendable {
    /// The status; an informational one (1xx) is sent as 500, since an application can't send interim responses; but for the 101 that
    /// ``upgrade(to:for:)`` sets.
    public var status: HTTPStatus
    /// The fields that are the application's.
    public var fields: Fields
    /// The body while `content` is ``Content/bytes``.
    public var body: [UInt8]
    /// Where the body comes from.
    public var content: Content
    /// What it goes on by; nil: nothing takes that back.
    public var permit: Permit?

    /// An empty response.
    public init(status: HTTPStatus = .ok) {
        self.status = status
        fields = Fields()
        body = []
        content = .bytes
    }

    /// Takes everything out of another, which is left empty and without storage.
    init(storageOf other: inout Response) {
        self.init()
        swap(&self, &other)
    }

    /// Back to an empty 200; storage is kept.
    public mutating func reset() {
        status = .ok
        if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
        if !body.isEmpty { body.removeAll(keepingCapacity: true) }
        content = .bytes
        permit = nil
    }
}

extension Response {
    /// Ends the stream, or the WebSocket, of a response that is never sent.
    func discardBody() {
        content.discard()
    }
}

extension Content {
    /// Tells who would have made the body that nobody wants it.
    func discard() {
        switch self {
        case .bytes, .parts: break
        case .stream(let stream, _): stream.closed()
        case .webSocket(let upgrade): upgrade.handler.closed()
        }
    }
}
