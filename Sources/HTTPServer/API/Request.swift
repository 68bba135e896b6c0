public import HTTPCore

/// A complete request for an application.
public struct Request: Sendable {
    /// The method, target, version and fields.
    public var head: RequestHead
    /// The decoded body; empty if there is none. At most ``ServerLimits/body`` bytes.
    public var body: [UInt8]
    /// The address of the client, if trusted proxies report it. Its port is 0 if they do not report that.
    public var peer: SocketAddress
    /// The client's scheme, `http` or `https`, if a trusted proxy reports it; nil if unknown.
    public var scheme: String?
    /// The prefix of every path in the client's URLs.
    public var linkPrefix = PathPrefix.none
    /// Whether the request's path was below the server's base path. If not, the path is the original one.
    public var isBelowBasePath = true
    /// The identifier of the request in logs and in the response's `X-Request-Id`.
    public var id: RequestIdentifier

    /// Creates a request, also for tests of applications.
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
    /// Sets the properties that are known without the request's own fields.
    mutating func arrive(from peer: SocketAddress) {
        // The storage is used again, mostly by the same client: comparing texts costs less than replacing them.
        if self.peer != peer { self.peer = peer }
        if scheme != nil { scheme = nil }
        if !linkPrefix.isEmpty { linkPrefix = .none }
        isBelowBasePath = true
    }

    /// Whether a body follows the head. A chunked one may be empty.
    public var announcesBody: Bool {
        switch head.framing {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
