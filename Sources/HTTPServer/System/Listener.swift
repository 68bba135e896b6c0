internal import CSystem
internal import Glibc
internal import Synchronization
internal import System

/// A listening TCP or Unix socket, shared by all event loops.
///
/// A socket per loop would require SO_REUSEPORT. With one socket, a second process on the same port is an error rather
/// than an unnoticed partner. Also, other loops can accept the connections that wait for a busy loop.
final class Listener: Sendable {
    let descriptor: Int32
    /// The address with the real port.
    let address: SocketAddress
    /// The file of a Unix socket, which is removed with the listener.
    private let file: UnixSocketFile?
    /// The number of loops that accept from it. The last one to leave closes it.
    private let users: Atomic<Int>

    /// The maximum number of connections that wait to be accepted. The kernel limits it to `net.core.somaxconn`.
    private static let backlog: Int32 = 4096

    /// Creates the listeners of a host. For `localhost`, they are 127.0.0.1 and then ::1, with one port, as clients differ in
    /// the one that they try. A system without ::1 has the first alone.
    static func all(host: String, port: Int, users: Int, unsentBytes: Int) throws(ServerError) -> [Listener] {
        guard host == "localhost" else {
            return [try Listener(host: host, port: port, users: users, unsentBytes: unsentBytes)]
        }
        var attemptsLeft = port == 0 ? portAttempts : 1
        while true {
            let first = try Listener(host: "127.0.0.1", port: port, users: users, unsentBytes: unsentBytes)
            do throws(ServerError) {
                return [first, try Listener(host: "::1", port: first.address.port, users: users, unsentBytes: unsentBytes)]
            } catch .addressInUse(let address) {
                attemptsLeft -= 1
                guard attemptsLeft > 0 else { throw .addressInUse(address) }
            } catch {
                return [first]
            }
        }
    }

    /// The maximum number of free ports of 127.0.0.1 that are tried, since ::1 may use them.
    private static let portAttempts = 32

    init(host: String, port: Int, users: Int, unsentBytes: Int) throws(ServerError) {
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

    /// Creates a Unix socket, whose file only the owner and the group can use.
    init(path: String, users: Int) throws(ServerError) {
        (descriptor, file) = try UnixSocketFile.listen(path, backlog: Self.backlog)
        self.users = Atomic(users)
        address = .unixSocket
    }

    deinit {
        if users.load(ordering: .acquiring) > 0 { end() }
    }

    /// Stops one loop's accepting. After the first call, new connections are refused.
    func leave() {
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
        // A restart must not wait for the previous process's connections in TIME_WAIT. On Linux, the option does not
        // allow a port on which another socket listens.
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        // Small writes are sent immediately; parts that belong together share a write. On Linux, accepted sockets
        // inherit this.
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

    /// The result of an attempt to accept.
    enum Accepted: ~Copyable {
        case connection(Socket, SocketAddress)
        /// No connection is waiting.
        case none
        /// A connection is waiting, but no descriptor or memory is left.
        case exhausted
    }

    /// Accepts one connection.
    func accept() -> Accepted {
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
            // The waiting connection has failed (accept(2) reports network errors); the next one may be valid.
            case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
                ENETUNREACH:
                continue
            default: return .none
            }
        }
    }
}
