public import HTTPCore

/// A whole request, as an application gets it.
public struct Request: Sendable {
    /// Method, target, version and fields.
    public var head: RequestHead
    /// The decoded body; empty if there is none. At most ``ServerLimits/body`` bytes.
    public var body: [UInt8]
    /// Where the client connects from.
    public var peer: SocketAddress
    /// What names this request in logs and in the response's `X-Request-Id`: the client's own if it sent one of 1–128 letters,
    /// digits and `-_.:/+=`; otherwise generated, 13 characters.
    public var id: String

    /// A request with those parts; tests of applications make them too.
    public init(
        head: RequestHead = RequestHead(), body: [UInt8] = [], peer: SocketAddress = SocketAddress(host: "127.0.0.1", port: 0),
        id: String = ""
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.id = id
    }
}
