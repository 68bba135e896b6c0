import CCurl
import Glibc
import HTTPCore

/// The sockets of a loop's connections, by the endpoints that libcurl names when it is about to use one.
///
/// What comes on a connection before its next request is no response to that (RFC 9112 §9.2). libcurl does not look in every version,
/// and does not tell which socket it uses; so sockets are noted when they are opened.
struct ConnectionTable {
    /// Both ends of a connection.
    struct Endpoints: Hashable {
        var local: IPAddress
        var localPort: Int32
        var remote: IPAddress
        var remotePort: Int32
    }

    private var sockets: [Endpoints: Int32] = [:]
    /// Each open socket; nil until its connection is ready.
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

    /// Notes the endpoints of a connection that has become ready on one of these sockets.
    /// - Returns: whether one of the sockets is open, so that the connection is new.
    mutating func connected(_ ends: Endpoints?, onOneOf opened: [Int32]) -> Bool {
        let open = opened.filter { endpoints[$0] != nil }
        guard !open.isEmpty else { return false }
        // Usually one: libcurl has closed those that lost the race.
        let socket = open.count == 1 ? open[0] : open.first { Self.localPort(of: $0) == ends?.localPort }
        if let socket, let ends {
            endpoints[socket] = ends
            sockets[ends] = socket
        }
        return true
    }

    /// The socket of a connection that is used again; nil if it is not known.
    func socket(_ ends: Endpoints?) -> Int32? { ends.flatMap { sockets[$0] } }

    /// The number of bytes that have been read from a socket; nil: the kernel does not tell it.
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
        // The port has the same place in the addresses of both families.
        return unsafe withUnsafeBytes(of: &address) { bytes in
            Int32(UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}

/// A connection that is used again, as it was when the request was about to be sent.
struct ReusedConnection {
    private let socket: Int32
    /// The number of bytes that had come, if the connection is encrypted and the kernel tells it.
    private let received: UInt64?

    /// Takes the connection's figures. Nil if something has come that no request asked for, or the connection has ended.
    init?(_ socket: Int32, isEncrypted: Bool) {
        guard pawl_socket_is_quiet(socket) != 0 else { return nil }
        self.socket = socket
        received = isEncrypted ? Self.figures(socket)?.received : nil
    }

    /// Whether the head that begins now can be the answer to the request.
    ///
    /// It cannot if nothing has come since: then it lay in the TLS library's memory. Nor can it while a request without content has not
    /// been acknowledged: an answer acknowledges what it answers.
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
