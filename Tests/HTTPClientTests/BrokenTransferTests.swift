import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Origins that break off, contradict themselves or stop sending.
@Suite(.timeLimit(.minutes(3)))
struct BrokenTransferTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    @Test(
        "A response that ends before its framing's end is an error",
        arguments: [
            // Fewer bytes than announced, with each end of the connection.
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "transferBroken"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "transferBroken"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\nhello", "transferBroken"),
            ("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/20\r\nContent-Length: 10\r\n\r\nhello", "transferBroken"),
            // A chunked body without its last chunk.
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "transferBroken"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "transferBroken"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "transferBroken"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "transferBroken"),
            // No response at all, or half a head.
            ("", "transferBroken"),
            ("HTTP/1.1 200 OK\r\nContent-Le", "transferBroken"),
            // Not HTTP, or an unrequested protocol.
            ("hello, this is some other protocol\r\n", "invalidResponse"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "invalidResponse"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "invalidResponse"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "invalidResponse"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello", "invalidResponse"),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\nhello", "invalidResponse"),
            ("HTTP/1.1 abc OK\r\n\r\nhello", "invalidResponse"),
        ])
    func earlyEndIsError(bytes: String, kind: String) async throws {
        let origin = try ScriptedOrigin { _ in [.text(bytes), .close] }
        let error = try #require(await client.failure(of: try ClientRequest(origin)))
        #expect(error.kind == kind, "\(error)")
    }

    @Test(
        "A server that begins with SETTINGS speaks only HTTP/2", arguments: [[], [0, 3, 0, 0, 0, 100]] as [[UInt8]],
        ["GET", "POST"])
    func settingsMeanOnlyHTTP2(settings: [UInt8], method: String) async throws {
        let frame: [UInt8] = [0, 0, UInt8(settings.count), 4, 0, 0, 0, 0, 0] + settings
        let origin = try ScriptedOrigin { _ in [.send(frame), .close] }
        var request = try ClientRequest(origin)
        request.method = method
        #expect(await client.failure(of: request) == .onlyHTTP2)
    }

    @Test("Bad chunk sizes break the transfer")
    func badChunkSizesBreakTransfer() async throws {
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nhello\r\n0\r\n\r\n"), .close]
        }
        let error = try #require(await client.failure(of: try ClientRequest(origin)))
        #expect(error.kind == "transferBroken", "\(error)")
    }

    @Test("Bytes before a reset are received")
    func bytesBeforeResetAreReceived() async throws {
        let arrived = Gate()
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .wait(arrived), .reset]
        }
        let sink = RecordingSink(bytes: { count in
            if count == 5 { arrived.open() }
            return .proceed
        })
        client.start(try ClientRequest(origin), sink: sink)
        #expect(try await sink.outcome().error?.kind == "transferBroken")
        #expect(sink.record.value.bytes == Array("hello".utf8))
        #expect(sink.record.value.heads.count == 1)
    }

    @Test("A reset before the head is a broken transfer")
    func resetBeforeHeadBreaksTransfer() async throws {
        let origin = try ScriptedOrigin { _ in [.reset] }
        #expect(await client.failure(of: try ClientRequest(origin))?.kind == "transferBroken")
    }

    @Test("A closed port is a failed connection")
    func silentPortFailsConnection() async throws {
        let port = try ClosedPort()
        let error = await client.failure(of: ClientRequest(url: try url("http://127.0.0.1:\(port.number)/")))
        guard case .connectionFailed(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains(String(port.number)))
    }

    @Test("An unknown name is a failed connection")
    func unknownNameFailsConnection() async throws {
        let error = try #require(await client.failure(of: ClientRequest(url: try url("http://no-such-host.invalid/"))))
        guard case .connectionFailed(let text) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(text.contains("no-such-host.invalid"))
    }

    @Test("A missing head is a timeout")
    func missingHeadTimesOut() async throws {
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\n"), .stall] }
        var request = try ClientRequest(origin)
        request.headTimeout = .milliseconds(60)
        #expect(await client.failure(of: request) == .timedOut("no response head within 0.06 seconds"))
        try await origin.openConnections(exactly: 0)
    }

    @Test("Reads a head in small pieces")
    func headInSmallPieces() async throws {
        let gates = (0..<5).map { _ in Gate() }
        let origin = try ScriptedOrigin { _ in
            let pieces = ["HT", "TP/1.1 200 OK\r", "\nContent-Length: 2\r\nA: b", "\r\n\r", "\no"]
            return zip(pieces, gates).flatMap { [.text($0), .wait($1)] } + [.text("k")]
        }
        let sink = RecordingSink()
        client.start(try ClientRequest(origin), sink: sink)
        try await origin.requests(atLeast: 1)
        for gate in gates { gate.open() }
        #expect(try await sink.outcome().get().bodyBytes == 2)
    }

    @Test("A silent body is stalled")
    func silentBodyStalls() async throws {
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall] }
        var request = try ClientRequest(origin)
        request.lowSpeedLimit = (1, .milliseconds(80))
        let sink = RecordingSink()
        client.start(request, sink: sink)
        #expect(try await sink.outcome().error == .stalled)
        #expect(sink.record.value.bytes == Array("hello".utf8))
        try await origin.openConnections(exactly: 0)
    }

    @Test("A sink bears a late head and a silent body, for as long as it says")
    func longWaitsAreBorne() async throws {
        let (head, body) = (Gate(), Gate())
        let origin = try ScriptedOrigin { request in
            request.target == "/slow"
                ? [.wait(head), .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .wait(body), .text("llo")] : [.stall]
        }
        var request = try ClientRequest(origin, "/slow")
        request.headTimeout = .milliseconds(20)
        request.lowSpeedLimit = (1, .milliseconds(20))
        let sink = RecordingSink(longestWait: .seconds(600))
        client.start(request, sink: sink)
        try await origin.requests(atLeast: 1)
        // A transfer with the same limits, which begins later, has exceeded them by then.
        var other = try ClientRequest(origin, "/other")
        (other.headTimeout, other.lowSpeedLimit) = (request.headTimeout, request.lowSpeedLimit)
        #expect(await client.failure(of: other)?.kind == "timedOut")
        head.open()
        _ = try await sink.record.wait { !$0.bytes.isEmpty }
        #expect(await client.failure(of: other)?.kind == "timedOut")
        body.open()
        #expect(try await sink.outcome().get().bodyBytes == 5)
    }

    @Test("The total time limit includes redirects")
    func wholeHasTimeLimit() async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/"
                ? [.redirect(to: "/end")] : [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall]
        }
        var request = try ClientRequest(origin)
        request.totalTimeout = .milliseconds(800)
        #expect(await client.failure(of: request) == .timedOut("no complete response within 0.8 seconds"))
        #expect(origin.requests.count == 2)
    }

    @Test("Limits the size of a head")
    func headIsBounded() async throws {
        let origin = try ScriptedOrigin { _ in
            [
                .text("HTTP/1.1 200 OK\r\n"),
                .generate(count: 1 << 30) { offset, count in
                    Array(repeating: Array("A: bcde\r\n".utf8), count: count / 9).flatMap { $0 }
                },
            ]
        }
        var configuration = ClientConfiguration()
        configuration.maximumHeadBytes = 10_000
        let client = try HTTPClient(configuration: configuration)
        #expect(await client.failure(of: try ClientRequest(origin)) == .invalidResponse("its head is larger than 10000 bytes"))
        let line = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nA: "), .generate(count: 1 << 30) { _, count in [UInt8](repeating: 0x61, count: count) }]
        }
        #expect(await client.failure(of: try ClientRequest(line)) != nil)
    }

    @Test("A sink can stop the transfer")
    func satisfiedSinkEndsTransfer() async throws {
        let endless = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\n\r\n"), .generate(count: 1 << 40) { _, count in [UInt8](repeating: 1, count: count) }]
        }
        let byHead = RecordingSink(head: { _ in .stop })
        client.start(try ClientRequest(endless), sink: byHead)
        #expect(try await byHead.outcome().error == .stopped)
        #expect(byHead.record.value.bytes.isEmpty)
        let byBytes = RecordingSink(bytes: { $0 >= 100_000 ? .stop : .proceed })
        client.start(try ClientRequest(endless), sink: byBytes)
        #expect(try await byBytes.outcome().error == .stopped)
        // The bytes of one read arrive together.
        #expect(byBytes.record.value.bytes.count < 100_000 + ClientConfiguration().receiveBufferBytes)
        try await endless.openConnections(exactly: 0)
        #expect(byBytes.record.value.outcomes.count == 1)
    }

    @Test("Replaces a kept connection that the origin has closed")
    func closedConnectionIsReplaced() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1]), .close] }
        for _ in 0..<5 { _ = try await client.fetch(ClientRequest(origin), bodyLimit: 10) }
        #expect(origin.requests.count == 5)
    }
}
