import CCurl
import Glibc
import HTTPCore

/// The sockets of a loop's connections, by the endpoints that libcurl reports before it uses a connection.
///
/// Bytes that arrive on a connection before its next request are not a response to that request (RFC 9112 §9.2). Some
/// versions of libcurl do not check for them, and none reports the socket. So sockets are recorded when they are
/// opened.
struct ConnectionSockets {
    /// The two ends of a connection.
    struct Endpoints: Hashable {
        var local: IPAddress
        var localPort: Int32
        var remote: IPAddress
        var remotePort: Int32
    }

    private var sockets: [Endpoints: Int32] = [:]
    /// The endpoints of each open socket; nil until its connection is ready.
    private var endpoints: [Int32: Endpoints?] = [:]

    /// Adds a socket that is about to be connected.
    mutating func opened(_ socket: Int32) {
        closed(socket)
        endpoints[socket] = .some(nil)
    }

    /// Removes a socket.
    mutating func closed(_ socket: Int32) {
        if let known = endpoints.removeValue(forKey: socket) ?? nil, sockets[known] == socket { sockets[known] = nil }
    }

    /// Records the endpoints of a connection that has become ready on one of these sockets.
    /// - Returns: Whether one of the sockets is open, so that the connection is new.
    mutating func connected(_ ends: Endpoints?, onOneOf opened: [Int32]) -> Bool {
        let open = opened.filter { endpoints[$0] != nil }
        guard !open.isEmpty else { return false }
        // Usually one: libcurl has closed the sockets that connected later.
        let socket = open.count == 1 ? open[0] : open.first { Self.localPort(of: $0) == ends?.localPort }
        if let socket, let ends {
            endpoints[socket] = ends
            sockets[ends] = socket
        }
        return true
    }

    /// The socket of a connection that is reused; nil if it is not known.
    func socket(_ ends: Endpoints?) -> Int32? { ends.flatMap { sockets[$0] } }

    /// The number of bytes that have been read from a socket; nil if the kernel does not report it.
    static func bytesRead(from socket: Int32) -> Int64? {
        var received: UInt64 = 0
        var unacknowledged: UInt32 = 0
        var unread: Int32 = 0
        guard unsafe pawl_socket_figures(socket, &received, &unacknowledged) != 0,
            unsafe ioctl(socket, UInt(FIONREAD), &unread) == 0
        else { return nil }
        return Int64(clamping: received) - Int64(unread)
    }

    private static func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe getsockname(socket, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isKnown else { return nil }
        // The port has the same offset in the addresses of both families.
        return unsafe withUnsafeBytes(of: &address) { bytes in
            Int32(UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}

/// The state of a reused connection just before its request.
struct ReusedConnection {
    private let socket: Int32
    /// The number of bytes that had been received; nil unless the connection is encrypted and the kernel reports it.
    private let received: UInt64?

    /// Reads the connection's state. Nil if unsolicited bytes have arrived, or the connection has ended.
    init?(_ socket: Int32, isEncrypted: Bool) {
        guard pawl_socket_is_quiet(socket) != 0 else { return nil }
        self.socket = socket
        received = isEncrypted ? Self.figures(socket)?.received : nil
    }

    /// Whether the head that begins now can be a response to the request.
    ///
    /// It cannot if no bytes have arrived since: then it was already in the TLS library's memory. Nor can it while a
    /// request without content is unacknowledged, since a response acknowledges its request.
    func canBeAnswered(sendsContent: Bool) -> Bool {
        guard let now = Self.figures(socket) else { return true }
        return now.received != received && (sendsContent || now.unacknowledged == 0)
    }

    private static func figures(_ socket: Int32) -> (received: UInt64, unacknowledged: UInt32)? {
        var received: UInt64 = 0
        var unacknowledged: UInt32 = 0
        guard unsafe pawl_socket_figures(socket, &received, &unacknowledged) != 0 else { return nil }
        return (received, unacknowledged)
    }
}
