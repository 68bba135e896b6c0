public import HTTPCore

/// The limits of a server, with the reasons for their numbers. Tests can lower them to avoid waiting.
public struct ServerLimits: Sendable {
    /// The sizes of a request head's parts and of chunked framing. Exceeding them gives 431, 414 or 400.
    public var parser = ParserLimits()

    /// The maximum request body in bytes, 1 MiB. Bodies are kept in memory, and no request of such an API needs more.
    /// 413.
    public var body = 1024 * 1024

    /// The memory of all bodies together, in bytes, 256 MiB, which is a few hundred bodies of the maximum length.
    ///
    /// It is shared by:
    /// - bodies that are arriving; a request without room gets 503, but one that arrives in one piece with its head
    ///   always passes,
    /// - bodies of requests that are being handled,
    /// - responses of more than 64 KiB until the client has read them; one without room becomes a 503,
    /// - messages of WebSockets from their first byte until the reply has been sent; a socket without room is closed
    ///   with 1013.
    public var bodyStorage = 256 * 1024 * 1024

    /// The time limit of a head from its first byte, 10 s. On a new connection it begins with the connection. It
    /// suffices for any client on any line, but does not allow connections to be occupied by dribbling. 408, or a mere
    /// close if nothing has arrived.
    public var headTimeout: Duration = .seconds(10)

    /// The maximum idle time of a connection between requests, 60 s, as in browsers and proxies.
    public var idleTimeout: Duration = .seconds(60)

    /// The minimum rate of a request's body, in bytes per second, over each ``bodyRateWindow``: 1 KiB/s. 408.
    public var bodyRate = 1024
    /// The period over which the rate of a body is measured, 10 s, which tolerates a few lost packets.
    public var bodyRateWindow: Duration = .seconds(10)

    /// The maximum time in which a client takes nothing of a response, 60 s; then the connection is reset. It may be a
    /// sixth longer if the last bytes taken were already in the kernel.
    public var writeTimeout: Duration = .seconds(60)

    /// The maximum number of connections, 10,000. A further connection displaces the one that has been idle for the
    /// longest.
    ///
    /// A connection is idle between requests or without a complete head. Without a ``Response/permit`` it is also idle
    /// while it waits for the client: for the rest of a body, for a response to be read, or for admission as a
    /// WebSocket.
    ///
    /// If none is idle, the new connection is surplus. It gets 503 and is closed, unless the application responds
    /// nonetheless (``Application/respondsToSurplus(_:)``).
    public var connections = 10_000
    /// The maximum number of connections of one client address (or a /64 of IPv6); further ones are surplus. 0: no
    /// limit. `nil`: half of ``connections``, but without a limit for this machine and for trusted proxies
    /// (``Ingress/trustedProxies``).
    public var connectionsPerAddress: Int?
    /// The maximum number of surplus connections that are open while they are refused, 1,024. A further one displaces
    /// an idle surplus connection. If there is none, the new connection is closed unread.
    public var refusedConnections = 1024
    /// The maximum time until a surplus connection is refused even without a head, 1 s.
    public var surplusTimeout: Duration = .seconds(1)

    /// The time for which the client's bytes are read and discarded after a response that closes the connection, 5 s.
    /// This avoids a reset, which would lose the response (RFC 9112 §9.6).
    public var lingerTimeout: Duration = .seconds(5)
    /// The maximum bytes that are discarded in that way, 64 MiB. So a client that sends a whole body first still reads
    /// the response.
    public var lingerBytes: Int64 = 64 * 1024 * 1024

    /// The time after a client's FIN at which a task's client is probed: 1 s.
    ///
    /// TCP does not distinguish a client that has left from one that has only finished sending, as `nc -N` does. So the
    /// client gets an interim response. A task is cancelled if its client has left, and continues otherwise. Most tasks take less
    /// time, and their clients get no interim response. HTTP/1.0 has none: its clients count as left after five times as
    /// long.
    public var halfCloseGrace: Duration = .seconds(1)

    /// The time for which a request's body may arrive during a shutdown, 1 s. Connections in an earlier phase are
    /// closed immediately.
    public var stopGrace: Duration = .seconds(1)

    /// The maximum output buffer per connection, in bytes, 128 KiB. While it is full, pipelined requests wait.
    public var outputBuffer = 128 * 1024
    /// The maximum bytes of a stream in the output buffer, 16 KiB. While they wait for the client, the stream is not called.
    public var streamBuffer = 16 * 1024

    /// The maximum bytes of a file that one connection sends per loop pass, 2 MiB. A disk reads that much in some
    /// milliseconds. While a slice is sent, the kernel already reads the next one.
    public var fileSlice = 2 * 1024 * 1024

    /// The maximum bytes that the kernel buffers for a client beyond those in transit, 256 KiB; at least 1. Without the
    /// limit, it would buffer megabytes for a client that reads nothing. A thousand such clients would take the memory
    /// of all others.
    public var unsentBytes = 256 * 1024

    /// The maximum number of clients without that limit, 32, which saves loop passes. They are clients that have proved
    /// to read fast. It ends when no write succeeds for a sixtieth of ``writeTimeout``, or when less than ``fastBytes``
    /// remain.
    public var unlimitedSockets = 32

    /// The bytes of a body, 4 MiB, that prove a fast client if they are taken within ``fastTime`` from its beginning.
    public var fastBytes: Int64 = 4 * 1024 * 1024

    /// The time limit for ``fastBytes``: 1 s.
    public var fastTime: Duration = .seconds(1)

    /// The maximum number of files open for responses, 10,000. Applications compare it with ``FileHandle/count`` and
    /// refuse requests.
    public var files = 10_000

    /// The limits of each WebSocket.
    public var webSocket = WebSocketLimits()

    /// The pause of accepting when descriptors or memory have run out, 100 ms. A connection that closes ends it early.
    public var acceptPause: Duration = .milliseconds(100)

    /// Creates limits with the documented values.
    public init() {}
}
