/// The reason why a server does not start.
public enum ServerError: Error, Sendable, Equatable {
    /// The host is neither an address nor a name that can be resolved, with the host and the resolver's reason.
    case unknownHost(String, reason: String)
    /// The port is not in 0...65535.
    case invalidPort(Int)
    /// Another socket listens on the address.
    case addressInUse(SocketAddress)
    /// The server cannot listen on the address, with the system's reason.
    case cannotListen(SocketAddress, reason: String)
    /// The server cannot listen on the Unix socket of the path, with the reason.
    case cannotListenOnPath(String, reason: String)
    /// The system refuses a descriptor or a thread, with the call and the reason.
    case outOfResources(String)
    /// `start` was called twice.
    case alreadyStarted
}

extension ServerError: CustomStringConvertible {
    /// The error in one line.
    public var description: String {
        switch self {
        case .unknownHost(let host, let reason): "cannot resolve \(host): \(reason)"
        case .invalidPort(let port): "port \(port) is not in 0...65535"
        case .addressInUse(let address): "\(address) is in use by another process"
        case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
        case .cannotListenOnPath(let path, let reason): "cannot listen on the Unix socket \(path): \(reason)"
        case .outOfResources(let reason): reason
        case .alreadyStarted: "the server was started before"
        }
    }
}
