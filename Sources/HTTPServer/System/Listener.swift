internal import CSystem
internal import Glibc
internal import Synchronization
internal import System

/// A listening socket, of TCP or a Unix socket, shared by all event loops.
///
/// One socket rather than one per loop with SO_REUSEPORT: so a second process on the same port is an error and not a silent
/// partner, and a loop that is busy leaves what waits in the queue to the others.
package final class Listener: Sendable {
    package let descriptor: Int32
    /// Where it listens, with the real port.
    package let address: SocketAddress
    /// The file of a Unix socket, which goes when the listener does.
    private let file: UnixSocketFile?
    /// The loops that accept from it; the last one to leave closes it.
    private let users: Atomic<Int>

    /// Connections that may wait to be accepted; the kernel caps it at `net.core.somaxconn`.
    private static let backlog: Int32 = 4096

    package init(host: String, port: Int, users: Int, unsentBytes: Int) throws(ServerError) {
        guard let service = UInt16(exactly: port) else { throw .invalidPort(port) }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(service), &hints, &found)
        guard result == 0, let first = unsafe found else {
            throw .unknownHost(host, reason: unsafe gai_strerror(result).map { unsafe String(cString: $0) } ?? "no address")
        }
        defer { unsafe freeaddrinfo(first) }
        let wanted = SocketAddress(host: host, port: port)
        let descriptor = unsafe try Self.listen(first, wanted, unsentBytes: unsentBytes)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let named = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        self.descriptor = descriptor
        self.users = Atomic(users)
        address = named == 0 ? SocketAddress(storage) ?? wanted : wanted
        file = nil
    }

    /// Listens on a Unix socket, whose file is the owner's and the group's to use.
    init(path: String, users: Int) throws(ServerError) {
        (descriptor, file) = try UnixSocketFile.listen(path, backlog: Self.backlog)
        self.users = Atomic(users)
        address = .unixSocket
    }

    deinit {
        if users.load(ordering: .acquiring) > 0 { end() }
    }

    /// A loop accepts no more. From the first one on, connecting is refused.
    package func leave() {
        shutdown(descriptor, Int32(SHUT_RD))
        if users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end() }
    }

    private func end() {
        file?.remove()
        close(descriptor)
    }

    private static func listen(
        _ info: UnsafeMutablePointer<addrinfo>, _ wanted: SocketAddress, unsentBytes: Int
    ) throws(ServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(info.pointee.ai_family, type, 0)
        guard descriptor >= 0 else { throw .cannotListen(wanted, reason: SystemError.last.description) }
        // Restarting must not wait for connections of the last run in TIME_WAIT. On Linux this still refuses a port on which
        // another socket listens.
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        // Small writes go out at once; what belongs together is written together. Linux hands this on to what is accepted.
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        Socket.limitUnsent(of: descriptor, to: unsentBytes)
        guard unsafe bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
            Glibc.listen(descriptor, backlog) == 0
        else {
            let error = SystemError.last
            close(descriptor)
            throw error.number == EADDRINUSE ? .addressInUse(wanted) : .cannotListen(wanted, reason: error.description)
        }
        return descriptor
    }

    /// What an attempt to accept came to.
    package enum Accepted: ~Copyable {
        case connection(Socket, SocketAddress)
        /// Nobody is waiting.
        case none
        /// No descriptor or memory is left; somebody is waiting.
        case exhausted
    }

    /// Accepts one connection.
    package func accept() -> Accepted {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe pawl_accept(descriptor, $0, &length)
                }
            }
            if accepted >= 0 {
                return .connection(Socket(owning: accepted), SocketAddress(storage) ?? SocketAddress(host: "", port: 0))
            }
            switch errno {
            case EAGAIN: return .none
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // What was waiting has gone (accept(2) passes on errors of the network); the next one may be fine.
            case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
                ENETUNREACH:
                continue
            default: return .none
            }
        }
    }
}
