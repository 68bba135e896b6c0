/// Every bound on a WebSocket, with the reason for its number.
public struct WebSocketLimits: Sendable {
    /// The longest message in bytes, and so the longest frame, 1 MiB, as ``ServerLimits/body``. 1009.
    public var message = 1024 * 1024

    /// How long a message may take from its first frame to its last byte, 60 s: what has come of it takes memory that others want. 1008.
    public var messageTimeout: Duration = .seconds(60)

    /// Messages of a client whose answers are being made at a time, 16: enough for any page that polls. Nothing more is read meanwhile.
    public var pendingMessages = 16

    /// Bytes of messages that nobody asked for and that a client has not read, 1 MiB, beyond what the kernel holds: thousands of events.
    /// With more, the connection is reset: nobody is listening.
    public var unreadEvents = 1024 * 1024

    /// A client that has sent nothing for so long is sent a ping, 30 s: less than after what proxies give up a connection.
    public var pingInterval: Duration = .seconds(30)
    /// Within so long of it something must come, 30 s, or the connection is closed.
    public var pongTimeout: Duration = .seconds(30)

    /// How long the client has to answer a close frame, 5 s. Then the connection is closed all the same.
    public var closeTimeout: Duration = .seconds(5)

    /// The documented values.
    public init() {}
}
