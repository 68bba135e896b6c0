/// Why a server doesn't start.
public enum ServerError: Error, Sendable, Equatable {
    /// The host is neither an address nor a name that resolves; what it was and the resolver's reason.
    case unknownHost(String, reason: String)
    /// The port is not in 0...65535.
    case invalidPort(Int)
    /// Another socket listens there.
    case addressInUse(SocketAddress)
    /// The address can't be listened on; the system's reason.
    case cannotListen(SocketAddress, reason: String)
    /// The Unix socket of that path can't be listened on, and why.
    case cannotListenOnPath(String, reason: String)
    /// The system refuses a descriptor or thread; the call and its reason.
    case outOfResources(String)
    /// `start` was called before.
    case alreadyStarted
}

extension ServerError: CustomStringConvertible {
    /// One line that says what to change.
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
