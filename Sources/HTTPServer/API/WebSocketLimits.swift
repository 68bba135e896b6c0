/// The limits of a WebSocket, with the reasons for their numbers.
public struct WebSocketLimits: Sendable {
    /// The maximum message, and so the maximum frame, in bytes, 1 MiB, as ``ServerLimits/body``. 1009.
    public var message = 1024 * 1024

    /// The time limit of a message from its first frame to its last byte, 60 s, since its memory is shared with others.
    /// 1008.
    public var messageTimeout: Duration = .seconds(60)

    /// The maximum number of a client's messages that tasks handle, 16: enough for any page that polls. At this number, nothing
    /// more is read.
    public var pendingMessages = 16

    /// The maximum bytes of unsolicited messages that a client has not read, 1 MiB, beyond the kernel's buffer:
    /// thousands of events. With more, the connection is reset.
    public var unreadEvents = 1024 * 1024

    /// The time without bytes from the client after which it gets a ping, 15 s: before proxies close an idle
    /// connection.
    public var pingInterval: Duration = .seconds(15)
    /// The time limit of a reply to a ping, 30 s. Then the connection is closed.
    public var pongTimeout: Duration = .seconds(30)

    /// The time limit of the client's reply to a close frame, 5 s. Then the connection is closed anyway.
    public var closeTimeout: Duration = .seconds(5)

    /// Creates limits with the documented values.
    public init() {}
}
