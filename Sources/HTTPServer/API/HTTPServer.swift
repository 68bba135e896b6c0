internal import Synchronization
internal import System

/// An HTTP/1.1 server: its listening sockets and the event loops that serve its connections.
///
///     let server = HTTPServer(configuration: ServerConfiguration(), application: application)
///     let address = try server.start()
///     …
///     await server.shutdown(within: .seconds(8))
///
/// A started server runs until it is shut down, even after the last reference to it is released.
public final class HTTPServer: Sendable {
    private enum State {
        case fresh
        case running(LoopGroup)
    }

    private let configuration: ServerConfiguration
    private let application: any Application
    private let state = Locked(State.fresh)

    /// Creates a server that does not listen yet.
    public init(configuration: ServerConfiguration, application: any Application) {
        self.configuration = configuration
        self.application = application
    }

    /// Starts listening, and returns the address with the real port. Connections are accepted when this returns.
    ///
    /// The file of a Unix socket is removed at the shutdown.
    ///
    /// SIGPIPE is then ignored in the whole process, because sendfile(2) has no flag against it.
    public func start() throws(ServerError) -> SocketAddress {
        let result = state.withLock { state -> Result<SocketAddress, ServerError> in
            guard case .fresh = state else { return .failure(.alreadyStarted) }
            do throws(ServerError) {
                let (group, address) = try launch()
                state = .running(group)
                return .success(address)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Stops accepting connections, and returns when every connection is closed. Current requests may finish (with
    /// `Connection: close`), and streams are notified. Idle connections are closed immediately, the others at the end
    /// of `limit`.
    public func shutdown(within limit: Duration) async {
        guard let group else { return }
        let deadline = ContinuousClock.now + limit
        for member in group.members { member.mailbox.post(.stop(deadline: deadline)) }
        await group.allEnded()
    }

    /// The number of open connections.
    public var connectionCount: Int { group?.connectionCount ?? 0 }

    /// Changes the maximum number of connections. Busy connections are not closed.
    public func limit(connections: Int) {
        group?.registry.limit(connections: connections)
    }

    /// Ends all use of revoked permits. A body that is arriving is refused with 401, and a stream ends. The connection
    /// of a response of known length is reset, so that the client learns that the response is incomplete and receives
    /// no more of it.
    public func endRevoked() {
        guard let group else { return }
        for member in group.members { member.mailbox.post(.endRevoked) }
    }

    private var group: LoopGroup? {
        state.withLock { if case .running(let group) = $0 { group } else { nil } }
    }

    private func launch() throws(ServerError) -> (LoopGroup, SocketAddress) {
        let users = max(configuration.eventLoops, 1)
        var listeners = try Listener.all(
            host: configuration.host, port: configuration.port, users: users, unsentBytes: configuration.limits.unsentBytes)
        let address = listeners[0].address
        if let path = configuration.unixSocket { listeners.append(try Listener(path: path, users: users)) }
        ignoreBrokenPipes()
        let (configuration, application, all) = (configuration, application, listeners)
        do throws(SystemError) {
            let group = try LoopGroup(loops: users, limits: configuration.limits, ingress: configuration.ingress)
            do throws(SystemError) {
                for (index, member) in group.members.enumerated() {
                    try Thread.start(name: "http-\(index)") {
                        EventLoop.run(
                            group: group, member: member, listeners: all, application: application,
                            configuration: configuration)
                    }
                }
            } catch {
                for member in group.members { member.mailbox.post(.stop(deadline: .now)) }
                throw error
            }
            return (group, address)
        } catch {
            throw .outOfResources("cannot start the server's threads: \(error)")
        }
    }
}
