internal import HTTPCore
internal import HTTPServer
internal import System

/// Tells whether a client on this machine has read all that was sent to it.
///
/// A reset drops the bytes that the kernel still holds, at both ends. A body that is to break off after N bytes does so exactly only if
/// the client has read those before.
struct Delivery: Sendable {
    /// Whether nothing that was sent is on its way or unread. It also holds where the system does not tell.
    let isComplete: @Sendable () -> Bool

    init(isComplete: @escaping @Sendable () -> Bool) {
        self.isComplete = isComplete
    }

    /// The connection between this server and a client, both over IPv4.
    init(server: SocketAddress, client: SocketAddress) {
        guard let ends = Self.ends(server, client) else {
            self.init { true }
            return
        }
        self.init {
            // Sent and not yet acknowledged; then received and not yet read, if the client is on this machine.
            (ConnectionQueues(of: ends)?.unacknowledged ?? 0) == 0 && (ConnectionQueues(of: ends.reversed)?.unread ?? 0) == 0
        }
    }

    private static func ends(_ server: SocketAddress, _ client: SocketAddress) -> ConnectionQueues.Ends? {
        guard case .v4(let local) = IPAddress(parsing: server.host)?.unmapped, let localPort = UInt16(exactly: server.port),
            case .v4(let remote) = IPAddress(parsing: client.host)?.unmapped, let remotePort = UInt16(exactly: client.port)
        else { return nil }
        return ConnectionQueues.Ends(
            localAddress: local, localPort: localPort, remoteAddress: remote, remotePort: remotePort)
    }
}
