import Glibc
import HTTPCore
@testable import HTTPServer
import System
import TestSupport
import Testing

/// A connection over a socket pair without a loop: input and output are real, and the time is simulated.
final class ConnectionPair {
    var connection: Connection
    var loop: LoopContext
    let client: Int32
    private let group: LoopGroup

    init(
        overTCP: Bool = false, limits: (inout ServerLimits) -> Void = { _ in },
        _ handler: @escaping @Sendable (borrowing Request, inout Response) -> Handling
    ) throws {
        let ends = try overTCP ? Self.tcpPair() : Self.unixPair()
        client = ends.client
        var configuration = ServerConfiguration()
        limits(&configuration.limits)
        group = try LoopGroup(loops: 1, limits: configuration.limits)
        loop = LoopContext(
            application: TestApplication(handler: handler), configuration: configuration, mailbox: try Mailbox(),
            bodyStorage: group.bodyStorage, unlimitedSockets: group.unlimitedSockets)
        connection = Connection(
            id: ConnectionID(slot: 0, generation: 0), socket: Socket(owning: ends.server),
            peer: SocketAddress(host: "127.0.0.1", port: 1), loop)
    }

    private static let type =
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    private static func unixPair() throws -> (client: Int32, server: Int32) {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError.last }
        return (ends[0], ends[1])
    }

    private static func tcpPair() throws -> (client: Int32, server: Int32) {
        let listener = try Listener(host: "127.0.0.1", port: 0, users: 1, unsentBytes: ServerLimits().unsentBytes)
        defer { listener.leave() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(listener.address.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let client = socket(AF_INET, type, 0)
        // Small fixed buffers: bytes in transit are few beside the counted ones.
        try limit(SO_RCVBUF, of: client)
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 || errno == EINPROGRESS else { throw SystemError.last }
        var waiting = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 10_000) == 1, case .connection(let server, _) = listener.accept() else {
            throw SystemError(ETIMEDOUT)
        }
        let descriptor = server.release()
        try limit(SO_SNDBUF, of: descriptor)
        return (client, descriptor)
    }

    private static func limit(_ option: Int32, of descriptor: Int32) throws {
        var bytes: Int32 = 256 * 1024
        guard unsafe setsockopt(descriptor, SOL_SOCKET, option, &bytes, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw SystemError.last
        }
    }

    deinit { Glibc.close(client) }

    /// The kernel's buffer for the client beyond bytes in transit, in bytes; 0 for its default.
    var unsentLimit: Int {
        var limit: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(connection.socket.descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, &length)
        return Int(limit)
    }

    /// Waits until the client can read or the server can write, lets both proceed, and returns the number of bytes that
    /// the client has read.
    func exchange() throws -> Int {
        var waiting = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection.socket.descriptor, events: Int16(POLLOUT | POLLIN), revents: 0),
        ]
        guard unsafe poll(&waiting, 2, 10_000) > 0 else { throw SystemError(ETIMEDOUT) }
        let ended = Int16(POLLHUP | POLLERR)
        guard (waiting[0].revents | waiting[1].revents) & ended == 0 else { throw SystemError(ECONNRESET) }
        if waiting[1].revents & Int16(POLLIN) != 0 { connection.isReadable = true }
        if waiting[1].revents != 0 { becomeWritable() }
        return waiting[0].revents == 0 ? 0 : read(256 << 10).count
    }

    var isClosed: Bool { connection.isClosed }
    var bodyStorage: Int { group.bodyStorage.used }
    var unlimitedSockets: Int { group.unlimitedSockets.used }

    func receive(_ text: String) { receive(Array(text.utf8)) }

    /// Sends bytes from the client; only those that fit, if that is allowed.
    func receive(_ bytes: [UInt8], allowsShort: Bool = false) {
        let count = unsafe write(client, bytes, bytes.count)
        #expect(count == bytes.count || allowsShort)
        connection.isReadable = true
        connection.advance(&loop)
    }

    func receiveEnd() {
        shutdown(client, Int32(SHUT_WR))
        connection.isReadable = true
        connection.advance(&loop)
    }

    /// There is room for more output.
    func becomeWritable() {
        connection.isWritable = true
        connection.advance(&loop)
    }

    /// Both may be ready; the ready ones are handled.
    func becomeReady() {
        connection.isReadable = true
        becomeWritable()
    }

    /// Whether the client's bytes have room.
    var canReceive: Bool {
        var waiting = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLOUT) != 0
    }

    /// The bytes that the connection holds for a client.
    var heldOutput: Int {
        guard case .webSocket(let webSocket) = connection.source else { return connection.pendingOutput }
        return connection.pendingOutput + webSocket.queuedBytes + webSocket.controls.count
    }

    /// The connection is broken.
    func close() {
        connection.close(&loop)
    }

    /// Output is left for the connection to send.
    func wake() {
        connection.wake(&loop)
    }

    /// A permit was revoked.
    func endIfRevoked() {
        connection.endIfRevoked(&loop)
    }

    func stop() {
        connection.stop(&loop)
    }

    /// Reads up to this number of sent bytes; the others stay in the kernel.
    func read(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe recv(client, &bytes, count, 0)
        return Array(bytes.prefix(max(got, 0)))
    }

    func readText() -> String { String(decoding: read(1 << 20), as: UTF8.self) }

    func wait(_ duration: Duration) {
        loop.now = loop.now + duration
        if let deadline = connection.deadline, deadline <= loop.now { connection.checkTime(&loop) }
    }
}
