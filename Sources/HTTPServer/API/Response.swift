public import HTTPCore

/// A response of an application.
///
/// The server sets `Date`, `Content-Length`, `Transfer-Encoding`, `Connection`, `X-Request-Id` and
/// `X-Content-Type-Options`. It removes these from `fields`. Applications handle HEAD like GET; the server omits the
/// body. It also omits the body of 204 and 304.
public struct Response: Sendable {
    /// The status. An informational one (1xx) is sent as 500, since an application cannot send interim responses. The
    /// exception is the 101 of ``upgrade(to:for:)``.
    public var status: HTTPStatus
    /// The fields of the application.
    public var fields: Fields
    /// The body if `content` is ``Content/bytes``.
    public var body: [UInt8]
    /// The source of the body.
    public var content: Content
    /// The permit that the response depends on; nil: none.
    public var permit: Permit?

    /// Creates an empty response.
    public init(status: HTTPStatus = .ok) {
        self.status = status
        fields = Fields()
        body = []
        content = .bytes
    }

    /// Moves the content and the storage out of another response, which becomes empty.
    init(storageOf other: inout Response) {
        self.init()
        swap(&self, &other)
    }

    /// The maximum storage of a body that is kept for the next one, in bytes.
    static let keptStorage = 256 * 1024

    /// Resets to an empty 200, and keeps the storage unless it is large.
    public mutating func reset() {
        status = .ok
        if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
        if !body.isEmpty { body.removeAll(keepingCapacity: body.capacity <= Self.keptStorage) }
        content = .bytes
        permit = nil
    }
}

extension Response {
    /// Ends the stream or the WebSocket of a response that is never sent.
    func discardBody() {
        content.discard()
    }
}

extension Content {
    /// Informs the stream or the WebSocket handler that the body is not sent.
    func discard() {
        switch self {
        case .bytes, .parts: break
        case .stream(let stream, _): stream.closed()
        case .webSocket(let upgrade): upgrade.handler.closed()
        }
    }
}
