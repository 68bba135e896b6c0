import HTTPCore
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// Counts open streams.
final class CountedStream: BodyStream {
    static let opened = Atomic<Int>(0)
    static let closed = Atomic<Int>(0)
    private static let piece = [UInt8](repeating: 0x2E, count: 10_000)
    private let calls = Atomic<Int>(0)

    func opened(_ waker: StreamWaker) {
        Self.opened.add(1, ordering: .relaxed)
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        buffer.append(contentsOf: Self.piece.prefix(limit))
        return calls.add(1, ordering: .relaxed).newValue < 200 ? .more : .end
    }

    func serverIsStopping() {}

    func closed() {
        Self.closed.add(1, ordering: .relaxed)
    }
}

@Suite(.timeLimit(.minutes(3))) struct DisorderTests {
    /// Misbehaving clients; each leaves in another way.
    private enum Conduct: CaseIterable {
        case connectAndReset, connectAndClose, halfHead, halfHeadAndReset, halfBody, leaveBeforeAnswer, leaveBeforeAnswerByReset
        case leaveStream, resetStream, pipelineAndLeave, halfCloseAndRead, garbage, leaveTask, readSomeOfMany

        func perform(_ port: Int) throws {
            let client = try TestConnection(port)
            switch self {
            case .connectAndReset: client.resetOnClose()
            case .connectAndClose: break
            case .halfHead: try client.send("GET / HT")
            case .halfHeadAndReset:
                try client.send("GET / HTTP/1.1\r\nHost")
                client.resetOnClose()
            case .halfBody: try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            case .leaveBeforeAnswer: try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            case .leaveBeforeAnswerByReset:
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                client.resetOnClose()
            case .leaveStream:
                try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.readHead()
            case .resetStream:
                try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.take(50_000)
                client.resetOnClose()
            case .pipelineAndLeave:
                try client.send((0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            case .halfCloseAndRead:
                try client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
                client.endOutput()
                #expect(try client.readResponse().text == "GET /a 0 ")
                #expect(try client.isClosed())
            case .garbage: try client.send([0, 255, 13, 10, 10, 3])
            case .leaveTask: try client.send("GET /task HTTP/1.1\r\nHost: x\r\n\r\n")
            case .readSomeOfMany:
                try client.send(String(repeating: "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", count: 3))
                _ = try client.readHead()
            }
        }
    }

    @Test("Clients that leave at any moment leave no resources, and affect no other client")
    func clientsThatLeaveAtAny() async throws {
        var configuration = ServerConfiguration()
        configuration.eventLoops = 2
        // On a busy machine a round takes long; the steady client's timeout must not end it.
        configuration.limits.headTimeout = .seconds(150)
        configuration.limits.idleTimeout = .seconds(150)
        configuration.limits.halfCloseGrace = .milliseconds(50)
        configuration.limits.lingerTimeout = .milliseconds(200)
        let application = TestApplication { request, response in
            switch request.head.target.path {
            case "/stream":
                response.content = .stream(CountedStream(), length: nil)
                return .ready
            case "/task":
                return .later {
                    try? await Task.sleep(for: .seconds(60))
                    return Response()
                }
            default: return echo(request, &response)
            }
        }
        let server = HTTPServer(configuration: configuration, application: application)
        let port = try server.start().port
        try await onThread {
            let steady = try TestConnection(port)
            for round in 0..<20 {
                for conduct in Conduct.allCases.shuffled() { try conduct.perform(port) }
                #expect(try steady.get("/\(round)").text == "GET /\(round) 0 ")
            }
        }
        // The steady client has left too by now.
        while server.connectionCount > 0 { try await nextTurn() }
        #expect(CountedStream.opened.load(ordering: .relaxed) >= 40)
        #expect(CountedStream.opened.load(ordering: .relaxed) == CountedStream.closed.load(ordering: .relaxed))
        await server.shutdown(within: .seconds(5))
    }

    /// A client that has received a response. The time for a first head begins at accept, and may be over before a
    /// thread of a busy machine sends it: then another connection is used.
    private static func greeted(_ port: Int) throws -> TestConnection {
        while true {
            let client = try TestConnection(port)
            if let response = try? client.get("/"), response.status == 200 { return client }
        }
    }

    @Test("Slow clients are cut off on time while others are served")
    func slowClientsAreCutOff() async throws {
        try await withServer(
            limits: { limits in
                limits.headTimeout = .seconds(1)
                limits.bodyRateWindow = .seconds(1)
            }, echo
        ) { port in
            let slow = try (0..<300).map { number in
                let client = try TestConnection(port)
                try client.send(number % 2 == 0 ? "GET / HT" : "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n")
                return client
            }
            let steady = try Self.greeted(port)
            for number in 0..<200 { #expect(try steady.get("/\(number)").text == "GET /\(number) 0 ") }
            for client in slow { #expect(try client.readResponse().status == 408) }
            #expect(try Self.greeted(port).get("/").status == 200)
        }
    }
}
