public import HTTPCore

/// Every bound the server keeps, with the reason for its number. They are settable so that tests need not wait.
public struct ServerLimits: Sendable {
    /// Sizes of the parts of a request's head and of a chunked body's framing: 431, 414, 400.
    public var parser = ParserLimits()

    /// The longest request body in bytes, 1 MiB: bodies are held in memory, and no request of an API like this needs more. 413.
    public var body = 1024 * 1024

    /// Memory for the bodies that are arriving on all connections together, in bytes, 256 MiB: a few hundred bodies of the full length
    /// at a time. Requests beyond that get 503; those that come in one piece with their head always pass. Bodies of requests that are being
    /// handled share it, and so do responses of more than 64 KiB until the client has read them: one that has no room is a 503 instead.
    /// Messages of WebSockets share it from their first byte until their answer has been sent; a socket that would need more is closed with
    /// 1013.
    public var bodyStorage = 256 * 1024 * 1024

    /// How long a head may take from its first byte (on a new connection: from the connection), 10 s: enough for any
    /// client on any line, too short for holding connections by dribbling. 408, or just closed if nothing has come.
    public var headTimeout: Duration = .seconds(10)

    /// How long a connection may be idle between requests, 60 s: what browsers and proxies use.
    public var idleTimeout: Duration = .seconds(60)

    /// The least rate of a request's body, in bytes per second, over each ``bodyRateWindow``: 1 KiB/s. 408.
    public var bodyRate = 1024
    /// The time over which the rate of a body is taken, 10 s: long enough to bridge a lost packet or two.
    public var bodyRateWindow: Duration = .seconds(10)

    /// How long a response may wait for its client to take any of it, 60 s; up to a sixth more if what it took last was in the kernel
    /// already. Then the connection is reset.
    public var writeTimeout: Duration = .seconds(60)

    /// Connections at a time, 10,000. For a further one, the connection is closed that has been idle for the longest: between requests, or
    /// without a complete head. A connection counts as idle, too, while its request has no ``Response/permit`` and waits for the client: for
    /// the rest of its body, to have its response read, or to be admitted as a WebSocket. If none is idle, the new one is surplus: it gets
    /// 503 and is closed, unless it asks what an application answers nonetheless (``Application/answersSurplus(_:)``).
    public var connections = 10_000
    /// Connections of one client's address at a time (or /64 of IPv6); further ones are surplus. 0 is no limit. `nil`: half of
    /// ``connections``, but without a limit for this machine and for trusted proxies (``Ingress/trustedProxies``).
    public var connectionsPerAddress: Int?
    /// How many surplus connections may be held at a time for what it takes to refuse them, 1,024. For more than that, idle ones of
    /// them are closed; if there are none, the new one is, unread.
    public var refusedConnections = 1024
    /// How long a surplus connection may take to send a head before it is refused all the same, 1 s.
    public var surplusTimeout: Duration = .seconds(1)

    /// After a response that closes while the client may still be sending: how long what it sends is read and dropped, so that
    /// the response isn't lost to a reset (RFC 9112 §9.6). 5 s.
    public var lingerTimeout: Duration = .seconds(5)
    /// And how much of it, in bytes, 64 MiB: a client that sends a whole body before it reads a response gets to reading it.
    public var lingerBytes: Int64 = 64 * 1024 * 1024

    /// How long a request that is being handled in a task goes on after its client has sent a FIN: 1 s.
    ///
    /// TCP doesn't distinguish a client that has left from one that only has no more to send. Programs and browsers leave;
    /// the rare one that half-closes first (`nc -N`) still gets responses that take less than this.
    public var halfCloseGrace: Duration = .seconds(1)

    /// How long a request's body may go on arriving once the server is shutting down, 1 s. What hasn't got that far is closed at once.
    public var stopGrace: Duration = .seconds(1)

    /// Output held per connection, in bytes, 128 KiB: pipelined requests wait and streams aren't asked while it is full.
    public var outputBuffer = 128 * 1024

    /// The most bytes of a file sent for one connection before the others have their turn, 1 MiB: what a disk that is not in
    /// memory takes some milliseconds for. While a slice is sent, the kernel is already reading the next.
    public var fileSlice = 1024 * 1024

    /// What the kernel takes for a client beyond what is on its way to it, in bytes, 256 KiB. It would take megabytes for one that reads
    /// nothing, and with a thousand of those have no memory for others. At least 1.
    public var unsentBytes = 256 * 1024

    /// Clients for which it may take as much as it sees fit, 32, which saves turns: those that have shown that they read fast, until
    /// nothing could be written for a sixtieth of ``writeTimeout`` or less than ``fastBytes`` are left.
    public var unlimitedSockets = 32

    /// So many bytes of a body, 4 MiB, taken within ``fastTime`` of its begin show that a client reads fast.
    public var fastBytes: Int64 = 4 * 1024 * 1024

    /// See ``fastBytes``: 1 s.
    public var fastTime: Duration = .seconds(1)

    /// Files that may be open for being served, 10,000. An application asks ``FileHandle/count`` and refuses beyond it.
    public var files = 10_000

    /// What holds of each WebSocket.
    public var webSocket = WebSocketLimits()

    /// How long accepting pauses when descriptors or memory have run out, 100 ms. A connection that closes ends the pause early.
    public var acceptPause: Duration = .milliseconds(100)

    /// The documented values.
    public init() {}
}
