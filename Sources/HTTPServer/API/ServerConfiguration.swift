public import HTTPCore
internal import System

/// How a server is set up.
public struct ServerConfiguration: Sendable {
    /// The address to listen on: an IPv4 or IPv6 address, or a name that the system resolves; `0.0.0.0` and `::` listen on all.
    public var host = "127.0.0.1"
    /// The TCP port, 0–65535; 0 lets the system choose a free one.
    public var port = 0
    /// The path of a Unix socket to listen on besides, 1–107 bytes; nil for none.
    public var unixSocket: String?
    /// The proxies that are believed, and the path that requests are below.
    public var ingress = Ingress()
    /// How many threads serve connections, at least 1. By default one for two processors, at most 4: what they
    /// do is little, each of them serves the more at a time the fewer they are, and transfers and the store want processors too.
    public var eventLoops: Int
    /// Every bound the server keeps.
    public var limits = ServerLimits()
    /// The value of the `Server` field; nil sends none.
    public var serverName: String?

    /// Fields that every response has unless the application gives it one of that name. Those that are the server's own, such as `Date`,
    /// are left out.
    public var defaultFields: [(name: FieldName, value: String)] = []

    /// The defaults above.
    public init() {
        eventLoops = min(max(Thread.processorCount / 2, 1), 4)
    }
}
