import HTTPCore
import HTTPServer
import System

/// Checks whether a client on this machine has read everything that was sent to it.
///
/// A reset drops the bytes that the kernel still holds, at both ends. So a client receives exactly N bytes only if it
/// has read them before the reset.
struct Delivery: Sendable {
    /// Whether no sent byte is on its way or unread. Also `true` if the system does not report it.
    let isComplete: @Sendable () -> Bool

    init(isComplete: @escaping @Sendable () -> Bool) {
        self.isComplete = isComplete
    }

    /// The delivery over the connection between this server and a client, both with IPv4 addresses.
    init(server: SocketAddress, client: SocketAddress) {
        guard let ends = Self.ends(server, client) else {
            self.init { true }
            return
        }
        self.init {
            // Sent and not acknowledged bytes, then received and unread ones if the client is on this machine.
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
