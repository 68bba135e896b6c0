internal import Synchronization
internal import System

/// An HTTP/1.1 server: a listening socket and the event loops that serve its connections.
///
///     let server = HTTPServer(configuration: ServerConfiguration(), application: application)
///     let address = try server.start()
///     …
///     await server.shutdown(within: .seconds(8))
///
/// A server that was started goes on until it is shut down, also if the last reference to it goes.
public final class HTTPServer: Sendable {
    private enum State {
        case fresh
        case running(LoopGroup)
    }

    private let configuration: ServerConfiguration
    private let application: any Application
    private let state = Locked(State.fresh)

    /// A server that isn't listening yet.
    public init(configuration: ServerConfiguration, application: any Application) {
        self.configuration = configuration
        self.application = application
    }

    /// Listens; connections are accepted when it returns. Returns the address with its real port.
    ///
    /// The file of a Unix socket is removed when the server has shut down.
    ///
    /// SIGPIPE is ignored from then on in the whole process, because sendfile(2) has no flag against it.
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

    /// Stops accepting, lets requests that are being handled finish (with `Connection: close`), notifies streams, closes idle
    /// connections at once and the rest when `limit` is over. Returns when every connection is closed.
    public func shutdown(within limit: Duration) async {
        guard let group else { return }
        let deadline = ContinuousClock.now + limit
        for member in group.members { member.mailbox.post(.stop(deadline: deadline)) }
        await group.allEnded()
    }

    /// How many connections are open.
    public var connectionCount: Int { group?.connectionCount ?? 0 }

    /// From now on so many connections may be open. Those that are busy stay so.
    public func limit(connections: Int) {
        group?.registry.limit(connections: connections)
    }

    /// Ends what goes on by a ``Permit`` that was revoked: a body that arrives is refused with 401, a stream ends, and the connection of
    /// a response of known length is reset, so that the client knows it is incomplete and gets nothing more of it.
    public func endRevoked() {
        guard let group else { return }
        for member in group.members { member.mailbox.post(.endRevoked) }
    }

    private var group: LoopGroup? {
        state.withLock { if case .running(let group) = $0 { group } else { nil } }
    }

    private func launch() throws(ServerError) -> (LoopGroup, SocketAddress) {
        let users = max(configuration.eventLoops, 1)
        let listener = try Listener(
            host: configuration.host, port: configuration.port, users: users, unsentBytes: configuration.limits.unsentBytes)
        var listeners = [listener]
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
            return (group, listener.address)
        } catch {
            throw .outOfResources("cannot start the server's threads: \(error)")
        }
    }
}
