/// An IP address and a TCP port, or the other end of a Unix socket, which has neither.
public struct SocketAddress: Sendable, Hashable {
    /// The address in its usual text form, IPv6 without brackets.
    public let host: String
    /// The port, 0–65535.
    public let port: Int

    /// Creates an address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

extension SocketAddress {
    /// The address of all clients of a Unix socket.
    public static let unixSocket = SocketAddress(host: "unix", port: 0)

    /// Whether the address stands for a Unix socket.
    public var isUnixSocket: Bool { self == .unixSocket }
}

extension SocketAddress: CustomStringConvertible {
    /// The form of URLs: `127.0.0.1:8080`, `[::1]:8080`. Only the host if the port is 0, since proxies rarely report a
    /// client's port.
    public var description: String {
        if port == 0 { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
