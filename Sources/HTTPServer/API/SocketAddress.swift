/// An IP address and a TCP port.
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

extension SocketAddress: CustomStringConvertible {
    /// As in a URL: `127.0.0.1:8080`, `[::1]:8080`.
    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
