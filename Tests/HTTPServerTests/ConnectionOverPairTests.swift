import Glibc
import HTTPCore
import TestSupport
import Testing

@testable import HTTPServer

/// A connection over a socket pair, without a loop: what it reads and writes is real, and the time is the test's.
private final class Pair {
    var connection: Connection
    var loop: LoopContext
    let client: Int32
    private let group: LoopGroup

    init(
        limits: (inout ServerLimits) -> Void = { _ in },
        _ handler: @escaping @Sendable (borrowing Request, inout Response) -> Handling
    ) throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError.last }
        client = ends[0]
        var configuration = ServerConfiguration()
        limits(&configuration.limits)
        group = try LoopGroup(loops: 1, connectionLimit: 100)
        loop = LoopContext(
            application: TestApplication(handler: handler), configuration: configuration, mailbox: try Mailbox(),
            bodyStorage: group.bodyStorage, unlimitedSockets: group.unlimitedSockets)
        connection = Connection(
            id: ConnectionID(slot: 0, generation: 0), socket: Socket(owning: ends[1]),
            peer: SocketAddress(host: "127.0.0.1", port: 1), loop)
    }

    deinit { close(client) }

    var isClosed: Bool { connection.isClosed }
    var bodyStorage: Int { group.bodyStorage.used }
    var unlimitedSockets: Int { group.unlimitedSockets.used }
    /// Bytes of the body in parts that is being sent.
    var sent: Int64 { if case .parts(let source) = connection.source { source.sent } else { 0 } }

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

    /// The client takes nothing any more, and says so.
    func leave() {
        shutdown(client, Int32(SHUT_RDWR))
        becomeWritable()
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
        loop.now = loop.now + Moment.Span(duration)
        if let deadline = connection.deadline, deadline <= loop.now { connection.checkTime(&loop) }
    }
}

@Suite struct ConnectionOverPairTests {
    private static func large(_ request: borrowing Request, _ response: inout Response) -> Handling {
        response.body = [UInt8](repeating: 7, count: 8 << 20)
        return .ready
    }

    @Test func `a client that takes less than makes its socket writable is not taken for one that has stopped`() throws {
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

    /// Whether the client of a body of 8 MiB gets one of the places for those that read fast, and how long it waits halfway.
    @Test(arguments: [(32, 0, true), (32, 2, false), (0, 0, false)] as [(Int, Int, Bool)])
    func `the kernel may take more for the few that read fast, until they have all`(
        places: Int, wait: Int, isUnlimited: Bool
    ) throws {
        let pair = try Pair(limits: { $0.unlimitedSockets = places }, Self.large)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        var count = 0
        while count < 6 << 20 {
            count += pair.read(1 << 20).count
            pair.becomeWritable()
            if count < 4 << 20, count >= 2 << 20 { pair.wait(.seconds(wait)) }
            #expect(pair.unlimitedSockets == (isUnlimited && pair.sent >= 4 << 20 ? 1 : 0))
        }
        while count < 8 << 20 {
            count += pair.read(1 << 20).count
            pair.becomeWritable()
        }
        #expect(pair.unlimitedSockets == 0)
    }

    @Test func `a client that leaves gives back its place among those that read fast`() throws {
        let pair = try Pair(Self.large)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while pair.unlimitedSockets == 0 {
            #expect(!pair.read(1 << 20).isEmpty)
            pair.becomeWritable()
        }
        pair.leave()
        #expect(pair.isClosed)
        #expect(pair.unlimitedSockets == 0)
    }

    @Test(arguments: [
        "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
    ])
    func `a request that the end of the input breaks off is answered with 400`(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        pair.receiveEnd()
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("X-Request-Id: mine\r\n") == request.contains("mine"))
        #expect(pair.isClosed)
    }

    @Test(arguments: ["", "\r\n"]) func `an end between requests is just an end`(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        pair.receiveEnd()
        #expect(pair.readText().isEmpty)
        #expect(pair.isClosed)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nBad Name: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 9999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `a refusal is named as the client named its request`(request: String) throws {
        let pair = try Pair(echo)
        pair.receive(request)
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 4"))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test func `a request that is late is answered with its own name`() throws {
        let pair = try Pair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nA: ")
        pair.wait(.seconds(10))
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test func `a failed request says nothing of the one before it`() throws {
        let pair = try Pair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: first\r\n\r\n\r\nG\u{1}")
        let answers = pair.readText().components("HTTP/1.1 ")
        #expect(answers.count == 2)
        #expect(answers.first?.contains("X-Request-Id: first\r\n") == true)
        #expect(answers.last?.hasPrefix("400 ") == true)
        #expect(answers.last?.contains("first") == false)
    }

    @Test func `bodies that are arriving share a bound, and give back what they had`() throws {
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

    @Test func `a body that comes in one piece takes nothing of the bound`() throws {
        let pair = try Pair(limits: { $0.bodyStorage = 0 }, echo)
        pair.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        #expect(pair.readText().hasPrefix("HTTP/1.1 200 "))
        #expect(pair.bodyStorage == 0)
    }

    @Test(arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n"])
    func `a shutdown closes at once what is owed nothing`(request: String) throws {
        let pair = try Pair(echo)
        if !request.isEmpty { pair.receive(request) }
        pair.stop()
        #expect(pair.isClosed)
    }

    @Test func `a shutdown lets a body arrive for a moment`() throws {
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
