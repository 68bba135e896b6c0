public import HTTPCore

/// A whole request, as an application gets it.
public struct Request: Sendable {
    /// Method, target, version and fields.
    public var head: RequestHead
    /// The decoded body; empty if there is none. At most ``ServerLimits/body`` bytes.
    public var body: [UInt8]
    /// Where the client connects from.
    public var peer: SocketAddress
    /// What names this request in logs and in the response's `X-Request-Id`.
    public var id: RequestIdentifier

    /// A request with those parts; tests of applications make them too.
    public init(
        head: RequestHead = RequestHead(), body: [UInt8] = [], peer: SocketAddress = SocketAddress(host: "127.0.0.1", port: 0),
        id: RequestIdentifier = .made(0)
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.id = id
    }
}

extension Request {
    /// Whether a body follows its head, be it that an empty one may.
    public var announcesBody: Bool {
        switch head.framing {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
