import Glibc
import HTTPCore
@testable import HTTPServer
import System
import TestSupport
import Testing

/// A connection over a socket pair, without a loop: what it reads and writes is real, and the time is the test's.
private final class Pair {
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
        // Small buffers that don't grow: what is on its way is little beside what is counted.
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

    /// How much the kernel takes for the client beyond what is on its way, in bytes; 0: as much as it sees fit.
    var unsentLimit: Int {
        var limit: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(connection.socket.descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, &length)
        return Int(limit)
    }

    /// Waits until the client can read or the server can write, and lets them: returns how much the client has read.
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

    func receive(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(unsafe write(client, bytes, bytes.count) == bytes.count)
        connection.isReadable = true
        connection.turn(&loop)
    }

    func receiveEnd() {
        shutdown(client, Int32(SHUT_WR))
        connection.isReadable = true
        connection.turn(&loop)
    }

    /// There is room for more output.
    func becomeWritable() {
        connection.isWritable = true
        connection.turn(&loop)
    }

    /// The connection is broken.
    func close() {
        connection.close(&loop)
    }

    func stop() {
        connection.stop(&loop)
    }

    /// Reads up to so many bytes of what has been sent; the rest stays with the kernel.
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

@Suite(.timeLimit(.minutes(2))) struct ConnectionOverPairTests {
    private static func large(_ request: borrowing Request, _ response: inout Response) -> Handling {
        response.body = [UInt8](repeating: 7, count: 8 << 20)
        return .ready
    }

    @Test("a client that takes less than makes its socket writable is not taken for one that has stopped")
    func aClientThatTakesLess() throws {
        let pair = try Pair(limits: { $0.writeTimeout = .seconds(60) }, Self.large)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        // A socket pair counts what is left in pieces of up to 32 KiB.
        for _ in 0..<4 {
            #expect(pair.read(36_000).count == 36_000)
            pair.wait(.seconds(60))
            #expect(!pair.isClosed)
        }
        // And one that takes nothing is.
        pair.wait(.seconds(60))
        #expect(pair.isClosed)
    }

    private static func huge(_ request: borrowing Request, _ response: inout Response) -> Handling {
        response.body = [UInt8](repeating: 7, count: 16 << 20)
        return .ready
    }

    /// The client of 16 MiB takes them as fast as they come, or waits so many seconds at 128 KiB and at 8 MiB.
    @Test(
        "the kernel may take more for the few that read fast, as long as they do",
        arguments: [(32, 0, 0, 8 << 20), (32, 2, 0, 0), (32, 0, 2, 4 << 20), (0, 0, 0, 0)]
            as [(places: Int, early: Int, late: Int, unlimited: Int)])
    func theKernelMayTakeMore(
        _ variant: (places: Int, early: Int, late: Int, unlimited: Int)
    ) throws {
        let pair = try Pair(overTCP: true, limits: { $0.unlimitedSockets = variant.places }, Self.huge)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        var (count, unlimited) = (0, 0)
        while count < 16 << 20 {
            let before = count
            count += try pair.exchange()
            for (place, seconds) in [(1 << 17, variant.early), (8 << 20, variant.late)] where before < place && count >= place {
                pair.wait(.seconds(seconds))
            }
            #expect(pair.unlimitedSockets == (pair.unsentLimit == 0 ? 1 : 0))
            if pair.unlimitedSockets == 1 { unlimited += count - before }
        }
        // Between the first 4 MiB, which show it, and the last ones. What is on its way blurs both.
        #expect(abs(unlimited - variant.unlimited) <= (variant.unlimited > 0 ? 3 << 20 : 0))
        #expect(pair.unlimitedSockets == 0)
        #expect(pair.unsentLimit == 256 << 10)
    }

    @Test("a connection that breaks gives back its place among those that read fast")
    func aConnectionThatBreaksGives() throws {
        let pair = try Pair(overTCP: true, Self.huge)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while pair.unlimitedSockets == 0 { _ = try pair.exchange() }
        pair.close()
        #expect(pair.isClosed)
        #expect(pair.unlimitedSockets == 0)
    }

    @Test(
        "a request that the end of the input breaks off is answered with 400",
        arguments: [
            "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
        ])
    func aRequestThatTheEnd(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        pair.receiveEnd()
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("X-Request-Id: mine\r\n") == request.contains("mine"))
        #expect(pair.isClosed)
    }

    @Test("an end between requests is just an end", arguments: ["", "\r\n"])
    func anEndBetweenRequestsIs(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        pair.receiveEnd()
        #expect(pair.readText().isEmpty)
        #expect(pair.isClosed)
    }

    @Test(
        "a refusal is named as the client named its request",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nBad Name: x\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 9999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ])
    func aRefusalIsNamedAs(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 4"))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test("a request that is late is answered with its own name")
    func aRequestThatIsLate() throws {
        let pair = try Pair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nA: ")
        pair.wait(.seconds(10))
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test("a failed request says nothing of the one before it")
    func aFailedRequestSaysNothing() throws {
        let pair = try Pair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: first\r\n\r\n\r\nG\u{1}")
        let answers = pair.readText().components("HTTP/1.1 ")
        #expect(answers.count == 2)
        #expect(answers.first?.contains("X-Request-Id: first\r\n") == true)
        #expect(answers.last?.hasPrefix("400 ") == true)
        #expect(answers.last?.contains("first") == false)
    }

    @Test("bodies that are arriving share a bound, and give back what they had")
    func bodiesThatAreArrivingShare() throws {
        let pair = try Pair(limits: { $0.bodyStorage = 100_000 }, echo)
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"
        pair.receive(head + String(repeating: "x", count: 1000))
        #expect(pair.bodyStorage >= 1000)
        #expect(pair.readText().isEmpty)
        pair.receive(String(repeating: "x", count: 60_000))
        pair.receive(String(repeating: "x", count: 60_000))
        #expect(pair.readText().hasPrefix("HTTP/1.1 503 "))
        #expect(pair.bodyStorage == 0)
    }

    @Test("a body that comes in one piece takes nothing of the bound")
    func aBodyThatComesIn() throws {
        let pair = try Pair(limits: { $0.bodyStorage = 0 }, echo)
        pair.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        #expect(pair.readText().hasPrefix("HTTP/1.1 200 "))
        #expect(pair.bodyStorage == 0)
    }

    @Test("a shutdown closes at once what is owed nothing", arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n"])
    func aShutdownClosesAtOnce(request: String) throws {
        let pair = try Pair(echo)
        if !request.isEmpty { pair.receive(request) }
        pair.stop()
        #expect(pair.isClosed)
    }

    @Test("a shutdown lets a body arrive for a moment")
    func aShutdownLetsABody() throws {
        let pair = try Pair(echo)
        pair.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
        pair.stop()
        #expect(!pair.isClosed)
        pair.receive("cde")
        #expect(pair.readText().hasSuffix("POST / 5 abcde"))
        #expect(pair.isClosed)
        let late = try Pair(echo)
        late.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
        late.stop()
        late.wait(.seconds(1))
        #expect(late.isClosed)
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator).map(String.init)
    }
}
