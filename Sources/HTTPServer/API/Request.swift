public import HTTPCore

/// A whole request, as an application gets it.
public struct Request: Sendable {
    /// Method, target, version and fields.
    public var head: RequestHead
    /// The decoded body; empty if there is none. At most ``ServerLimits/body`` bytes.
    public var body: [UInt8]
    /// Where the client connects from, as far as proxies that are trusted say; its port is 0 if they don't.
    public var peer: SocketAddress
    /// By which scheme the client sent it, `http` or `https`, if a proxy that is trusted says; nil if nobody knows.
    public var scheme: String?
    /// What stands before every path in the URLs that the client knows.
    public var linkPrefix = PathPrefix.none
    /// False of a request that came past the server's base path, by its original path.
    public var isBelowBasePath = true
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
    /// What is known of its way here without asking what it says itself.
    mutating func arrive(from peer: SocketAddress) {
        self.peer = peer
        scheme = nil
        linkPrefix = .none
        isBelowBasePath = true
    }

    /// Whether a body follows its head, be it that an empty one may.
    public var announcesBody: Bool {
        switch head.framing {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
