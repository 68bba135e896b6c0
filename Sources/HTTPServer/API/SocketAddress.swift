/// An IP address and a TCP port, or the other end of a Unix socket, which has neither.
public struct SocketAddress: Sendable, Hashable {
    /// The address in its usual text form, IPv6 without brackets.
    public let host: String
    /// 0–65535.
    public let port: Int

    /// That address and port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

extension SocketAddress {
    /// Whoever connects over a Unix socket.
    public static let unixSocket = SocketAddress(host: "unix", port: 0)

    /// Whether it is that.
    public var isUnixSocket: Bool { self == .unixSocket }
}

extension SocketAddress: CustomStringConvertible {
    /// As in a URL: `127.0.0.1:8080`, `[::1]:8080`. Without a port, the host alone: a proxy rarely tells its client's.
    public var description: String {
        if port == 0 { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
