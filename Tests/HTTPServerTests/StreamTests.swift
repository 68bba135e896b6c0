import Glibc
import HTTPCore
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// A stream that a test feeds and observes.
final class TestStream: BodyStream {
    struct State {
        var steps: [(bytes: [UInt8], step: StreamStep)] = []
        var opened = 0
        var closed = 0
        var stopped = 0
        var calls = 0
        var largestLimit = 0
        var produced = 0
        var waker: StreamWaker?
    }

    let state: Box<State>
    /// The result of `next` without further steps; counts from 0.
    let otherwise: @Sendable (inout [UInt8], Int, Int) -> StreamStep

    init(
        _ steps: [(String, StreamStep)] = [],
        otherwise: @escaping @Sendable (inout [UInt8], Int, Int) -> StreamStep = { _, _, _ in .wait(until: nil) }
    ) {
        var state = State()
        state.steps = steps.map { (Array($0.0.utf8), $0.1) }
        self.state = Box(state)
        self.otherwise = otherwise
    }

    func opened(_ waker: StreamWaker) {
        state.update {
            $0.opened += 1
            $0.waker = waker
        }
    }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        let before = buffer.count
        var result = StreamStep.end
        state.update { state in
            if state.stopped > 0 { return }
            if state.steps.isEmpty {
                result = otherwise(&buffer, limit, state.calls)
            } else {
                let (bytes, step) = state.steps.removeFirst()
                buffer.append(contentsOf: bytes)
                result = step
            }
            state.calls += 1
            state.largestLimit = max(state.largestLimit, limit)
            state.produced += buffer.count - before
        }
        return result
    }

    func serverIsStopping() {
        state.update { $0.stopped += 1 }
    }

    func closed() {
        state.update { $0.closed += 1 }
    }

    /// Adds a step and wakes the server.
    func push(_ text: String, _ step: StreamStep = .wait(until: nil)) {
        state.update { $0.steps.append((Array(text.utf8), step)) }
        state.current.waker?.wake()
    }
}

/// A stream whose messages are chunks.
final class MessageStream: BodyStream {
    let lengths: [Int]
    private let state: Box<(index: Int, sent: Int)> = Box((0, 0))

    init(lengths: [Int]) { self.lengths = lengths }

    var rest: Int {
        let (index, sent) = state.current
        return sent == 0 ? 0 : lengths[index] - sent
    }

    func opened(_ waker: StreamWaker) {}

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        var (index, sent) = state.current
        guard index < lengths.count else { return .end }
        let count = min(limit, lengths[index] - sent)
        buffer.append(contentsOf: repeatElement(0x61, count: count))
        sent += count
        if sent == lengths[index] { (index, sent) = (index + 1, 0) }
        state.update { $0 = (index, sent) }
        return .more
    }

    func serverIsStopping() {}
    func closed() {}
}

@Suite(.timeLimit(.minutes(3))) struct StreamTests {
    private static let filler = [UInt8](repeating: 0x61, count: 256 * 1024)

    private func serve(_ stream: TestStream, length: Int64? = nil) -> @Sendable (borrowing Request, inout Response) -> Handling {
        { request, response in
            if request.head.target.path == "/after" {
                response.body = Array("after".utf8)
            } else {
                response.content = .stream(stream, length: length)
            }
            return .ready
        }
    }

    @Test("Sends a stream of unknown length in chunks, and keeps the connection")
    func aStreamOfUnknownLength() async throws {
        let stream = TestStream([("one", .more), ("", .more), ("two", .end)])
        try await withServer(serve(stream)) { port in
            let client = try TestConnection(port)
            let response = try client.get("/")
            #expect(response["Transfer-Encoding"] == "chunked")
            #expect(response["Content-Length"] == nil)
            #expect(response.text == "onetwo")
            #expect(try client.get("/after").text == "after")
        }
        #expect(stream.state.current.opened == 1)
        #expect(stream.state.current.closed == 1)
    }

    @Test("A stream of known length has a Content-Length")
    func aStreamOfKnownLength() async throws {
        let stream = TestStream([("one", .more), ("two", .end)])
        try await withServer(serve(stream, length: 6)) { port in
            let client = try TestConnection(port)
            let response = try client.get("/")
            #expect(response["Content-Length"] == "6")
            #expect(response["Transfer-Encoding"] == nil)
            #expect(response.text == "onetwo")
            #expect(try client.get("/after").text == "after")
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("Cuts a stream that exceeds its length")
    func aStreamThatGivesMore() async throws {
        let stream = TestStream([("one", .more), ("twothree", .more)])
        try await withServer(serve(stream, length: 6)) { port in
            let client = try TestConnection(port)
            #expect(try client.get("/").text == "onetwo")
            #expect(try client.get("/after").text == "after")
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("A stream that ends early ends the connection")
    func aStreamThatEndsShort() async throws {
        let stream = TestStream([("one", .end)])
        try await withServer(serve(stream, length: 6)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead()["Content-Length"] == "6")
            #expect(try client.takeRest() == Array("one".utf8))
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("A 1.0 client gets a stream that ends with the connection")
    func a10ClientGetsA() async throws {
        let stream = TestStream([("one", .more), ("two", .end)])
        try await withServer(serve(stream)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let response = try client.readResponse()
            #expect(response["Transfer-Encoding"] == nil)
            #expect(response["Connection"] == "close")
            #expect(response.text == "onetwo")
        }
    }

    @Test("A client that ends the connection gets a stream without chunks")
    func aClientThatEndsTheConnection() async throws {
        let stream = TestStream([("one", .more), ("two", .end)])
        try await withServer(serve(stream)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let response = try client.readResponse()
            #expect(response["Transfer-Encoding"] == nil)
            #expect(response["Connection"] == "close")
            #expect(response.text == "onetwo")
        }
    }

    @Test("Bytes of several calls are one chunk, and bytes of one call are no part of another's")
    func chunks() async throws {
        let stream = MessageStream(lengths: [3, 200_000, 1, 70_000, 65_536])
        try await withServer { _, response in
            response.content = .stream(stream, length: nil)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
            for length in stream.lengths { #expect(try client.readChunk()?.count == length) }
            #expect(try client.readChunk() == nil)
        }
    }

    @Test("HEAD closes a stream without opening it")
    func headOpensNoStreamBut() async throws {
        let stream = TestStream([("one", .end)])
        try await withServer(serve(stream, length: 3)) { port in
            let client = try TestConnection(port)
            #expect(try client.get("/", method: "HEAD")["Content-Length"] == "3")
            #expect(try client.get("/after").text == "after")
        }
        #expect(stream.state.current.opened == 0)
        #expect(stream.state.current.closed == 1)
    }

    @Test("A wake-up from another thread sends the bytes at once")
    func aWakeFromAnotherThread() async throws {
        let stream = TestStream()
        try await withServer(serve(stream)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().status == 200)
            for number in 0..<100 {
                stream.push("event \(number)")
                #expect(try client.readChunk() == Array("event \(number)".utf8))
            }
            stream.push("bye", .end)
            #expect(try client.readChunk() == Array("bye".utf8))
            #expect(try client.readChunk() == nil)
            #expect(try client.get("/after").text == "after")
            // No server listens any more.
            stream.push("lost")
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("Polls a stream again at its time")
    func aStreamIsAskedAgain() async throws {
        let stream = TestStream { buffer, _, call in
            buffer.append(contentsOf: "\(call);".utf8)
            return call == 4 ? .end : .wait(until: .now + .milliseconds(5))
        }
        try await withServer(serve(stream)) { port in
            let response = try TestConnection(port).get("/")
            #expect(response.text == "0;1;2;3;4;")
        }
    }

    @Test("A client that never reads uses bounded memory, and is dropped in time", arguments: [nil, Int64.max])
    func aClientThatNeverReads(
        length: Int64?
    ) async throws {
        let stream = TestStream { buffer, limit, _ in
            buffer.append(contentsOf: Self.filler.prefix(limit))
            return .more
        }
        try await withServer(
            limits: { limits in
                limits.writeTimeout = .milliseconds(200)
                limits.streamBuffer = 64 * 1024
            }, serve(stream, length: length)
        ) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(stream.state.wait { $0.closed == 1 })
            // Another client is served as usual.
            #expect(try TestConnection(port).get("/after").text == "after")
        }
        let state = stream.state.current
        #expect(state.largestLimit <= 64 * 1024)
        // The kernel's buffers and the server's: far below an unbounded buffer.
        #expect(state.produced < 16 * 1024 * 1024)
        #expect(state.closed == 1)
    }

    @Test(
        "A client that closes its writing side reads an open-ended stream on, until it leaves", arguments: [true, false])
    func aClientThatClosesItsWritingSide(early: Bool) async throws {
        let stream = TestStream([("hello", .wait(until: nil))])
        try await withServer(serve(stream)) { port in
            do {
                let client = try TestConnection(port)
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                if early { client.endOutput() }
                #expect(try client.readHead().status == 200)
                #expect(try client.readChunk() == Array("hello".utf8))
                client.endOutput()
                for text in ["one", "two"] {
                    stream.push(text)
                    #expect(try client.readChunk() == Array(text.utf8))
                }
                #expect(stream.state.current.closed == 0)
            }
            // To a client that has left, the first bytes provoke an RST.
            stream.push("three")
            #expect(stream.state.wait { $0.closed == 1 })
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("Notices a reset during a response, and calls close once")
    func aClientThatResetsIn() async throws {
        let stream = TestStream { buffer, limit, _ in
            buffer.append(contentsOf: Self.filler.prefix(limit))
            return .more
        }
        try await withServer(serve(stream, length: .max)) { port in
            do {
                let client = try TestConnection(port)
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.take(100_000)
                client.resetOnClose()
            }
            #expect(stream.state.wait { $0.closed == 1 })
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("A stream can break off by FIN or RST", arguments: [true, false])
    func aStreamCanBreakOff(resets: Bool) async throws {
        let stream = TestStream([("partial", .wait(until: nil))])
        try await withServer(serve(stream, length: 100)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
            #expect(try client.take(7) == Array("partial".utf8))
            stream.push("", .abort(reset: resets))
            if resets {
                #expect(throws: TestConnection.Failure.reset) { try client.fill() }
            } else {
                #expect(try client.fill() == false)
            }
        }
        #expect(stream.state.current.closed == 1)
    }

    @Test("Requests behind a stream wait for its end")
    func requestsBehindAStreamWait() async throws {
        let stream = TestStream()
        try await withServer(serve(stream)) { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /after HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().status == 200)
            #expect(client.isQuiet(milliseconds: 30))
            stream.push("x", .end)
            #expect(try client.readChunk() == Array("x".utf8))
            #expect(try client.readChunk() == nil)
            #expect(try client.readResponse().text == "after")
        }
    }
}
