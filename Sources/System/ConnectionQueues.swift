internal import CSystem

/// The bytes that the kernel holds for one TCP connection over IPv4, at one of its ends on this machine.
public struct ConnectionQueues: Sendable, Equatable {
    /// Bytes received that the program has not read.
    public let unread: Int
    /// Bytes written that the peer has not acknowledged.
    public let unacknowledged: Int

    /// The two ends of a connection, from the view of one of its sockets.
    public struct Ends: Sendable, Equatable {
        /// The socket's own IPv4 address as a number: `127.0.0.1` is `0x7f00_0001`.
        public let localAddress: UInt32
        /// The socket's own port.
        public let localPort: UInt16
        /// The peer's IPv4 address, in the same form.
        public let remoteAddress: UInt32
        /// The peer's port.
        public let remotePort: UInt16

        /// Creates the ends of a connection.
        public init(localAddress: UInt32, localPort: UInt16, remoteAddress: UInt32, remotePort: UInt16) {
            self.localAddress = localAddress
            self.localPort = localPort
            self.remoteAddress = remoteAddress
            self.remotePort = remotePort
        }

        /// The ends from the view of the peer.
        public var reversed: Ends {
            Ends(localAddress: remoteAddress, localPort: remotePort, remoteAddress: localAddress, remotePort: localPort)
        }
    }

    /// Asks the kernel about one socket (`sock_diag(7)`). That takes a few microseconds, however many sockets there
    /// are.
    ///
    /// `nil` if this network namespace has no such socket, or if the kernel cannot report it.
    public init?(of ends: Ends) {
        var unread: UInt32 = 0
        var unacknowledged: UInt32 = 0
        let result = unsafe pawl_tcp_queues(
            ends.localAddress.bigEndian, ends.localPort, ends.remoteAddress.bigEndian, ends.remotePort, &unread, &unacknowledged)
        guard result == 0 else { return nil }
        self.unread = Int(unread)
        self.unacknowledged = Int(unacknowledged)
    }
}
