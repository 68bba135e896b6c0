public import HTTPCore
internal import System

/// The configuration of a server.
public struct ServerConfiguration: Sendable {
    /// The address to listen on: an IPv4 or IPv6 address, or a name that the system resolves. `0.0.0.0` and `::` are
    /// all addresses, and `localhost` is 127.0.0.1 and, where it exists, ::1.
    public var host = "127.0.0.1"
    /// The TCP port, 0–65535; 0 lets the system choose a free one.
    public var port = 0
    /// The path of an additional Unix socket, 1–107 bytes; nil: none.
    public var unixSocket: String?
    /// The trusted proxies and the base path.
    public var ingress = Ingress()
    /// The number of threads that serve connections, at least 1. The default is one for two processors, but at most 4.
    /// Their work is small, and fewer threads serve more connections per wait. Transfers and the store need processors,
    /// too.
    public var eventLoops: Int
    /// The limits of the server.
    public var limits = ServerLimits()
    /// The value of the `Server` field; nil: the field is not sent.
    public var serverName: String?

    /// Fields of every response, unless the application sets a field of the same name. Fields that the server itself
    /// sets, such as `Date`, are ignored.
    public var defaultFields: [(name: FieldName, value: String)] = []

    /// Creates the default configuration.
    public init() {
        eventLoops = min(max(Thread.processorCount / 2, 1), 4)
    }
}
