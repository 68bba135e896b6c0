import HTTPCore
import HTTPServer
import TestSupport
import Testing

/// WebSockets over real connections.
@Suite(.timeLimit(.minutes(3))) struct WebSocketTests {
    private func withSocket<Value: Sendable>(
        _ handler: TestWebSocket = TestWebSocket(), limits: @Sendable (inout ServerLimits) -> Void = { _ in },
        client: @escaping @Sendable (TestConnection) throws -> Value
    ) async throws -> Value {
        try await withServer(limits: limits, opening { handler }) { try client(try .webSocket($0)) }
    }

    @Test("Responds to the handshake of RFC 6455 §1.3 as specified")
    func theHandshakeIsAnswered() async throws {
        let response = try await withServer(defaultFields: [(FieldName(constant: "X-Default"), "1")], opening()) { port in
            let client = try TestConnection(port)
            try client.send("GET", "/", fields: TestConnection.handshakeFields + [("Sec-WebSocket-Protocol", "chat")])
            let response = try client.readHead()
            // No bytes follow the head.
            try client.send(.text("x"))
            #expect(try client.takeFrame() == .text("x"))
            return response
        }
        #expect(response.status == 101)
        #expect(response["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response["Upgrade"] == "websocket")
        #expect(response["Connection"] == "Upgrade")
        #expect(response.count("Connection") == 1)
        for name in ["Content-Length", "Transfer-Encoding", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions"] {
            #expect(response[name] == nil)
        }
    }

    @Test("Refuses a wrong handshake, and keeps the connection")
    func aHandshakeThatIsWrong() async throws {
        let responses = try await withServer(opening()) { port -> [TestResponse] in
            let client = try TestConnection(port)
            var responses: [TestResponse] = []
            func send(_ method: String = "GET", without name: String, _ more: (String, String)...) throws {
                try client.send(method, "/", fields: TestConnection.handshakeFields.filter { $0.0 != name } + more)
                responses.append(try client.readResponse(isHead: method == "HEAD"))
            }
            try send(without: "Sec-WebSocket-Key")
            try send(without: "Connection")
            try send("HEAD", without: "")
            try send(without: "Sec-WebSocket-Version", ("Sec-WebSocket-Version", "8"))
            try send(without: "Upgrade")
            return responses
        }
        #expect(responses.map(\.status) == [400, 426, 400, 426, 426])
        #expect(responses[0].text.contains("Sec-WebSocket-Key"))
        #expect(responses[3]["Sec-WebSocket-Version"] == "13")
        #expect(responses[3]["Upgrade"] == "websocket")
        #expect(responses[3]["Connection"] == "Upgrade")
        // A proxy may have removed it.
        #expect(responses[4]["Connection"] == "Upgrade" && responses[4].text.contains("proxy"))
    }

    @Test("A task may respond with a socket that was opened before")
    func aTaskMayAnswer() async throws {
        try await withServer({ request, response in
            guard response.upgrade(to: TestWebSocket(), for: request) == nil else { return .ready }
            let upgraded = response
            return .later { upgraded }
        }) { port in
            let client = try TestConnection(port)
            let bytes = TestConnection.handshakeFields.map { "\($0): \($1)\r\n" }.joined()
            try client.send(Array("GET / HTTP/1.1\r\nHost: x\r\n\(bytes)\r\n".utf8) + ClientFrame.text("early").bytes)
            #expect(try client.readHead().status == 101)
            #expect(try client.takeFrame() == .text("early"))
        }
    }

    @Test("Echoes messages of every length in every division", arguments: [0, 1, 125, 126, 65535, 65536, 1 << 20])
    func messagesAreEchoed(length: Int) async throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try await withSocket { client in
            for chop in [997, 100_000] where length < 100_000 || chop > 1000 {
                let frame = ClientFrame(2, bytes).bytes
                for start in stride(from: 0, to: frame.count, by: chop) { try client.send(Array(frame[start...].prefix(chop))) }
                let answer = try client.takeFrame()
                #expect(answer.opcode == 2)
                #expect(Bytes(answer.payload) == Bytes(bytes))
            }
            let half = length / 2
            try client.send(
                ClientFrame(2, Array(bytes[..<half]), isFinal: false), ClientFrame(9, [1]), ClientFrame(0, Array(bytes[half...])))
            #expect(try client.takeFrame() == ServerFrame(10, [1]))
            #expect(Bytes(try client.takeFrame().payload) == Bytes(bytes))
            try client.send(.close(1000, "bye"))
            #expect(try client.takeFrame().closeCode == 1000)
            // The server closes first.
            #expect(try client.isClosed())
        }
    }

    /// Sent bytes, the messages before the end, and the close code.
    private nonisolated static let broken: [(frames: [ClientFrame], answers: [ServerFrame], code: Int)] = [
        ([ClientFrame(1, [0xFF])], [], 1007),
        (
            [.text("x"), ClientFrame(1, [0xCE, 0xBA], isFinal: false), ClientFrame(0, [0xED, 0xA0, 0x80], isFinal: false)],
            [.text("x")], 1007
        ),
        ([ClientFrame(3), ClientFrame(9)], [], 1002),
        ([ClientFrame(9, [UInt8](repeating: 1, count: 126))], [], 1002),
        ([ClientFrame(9, [1]), ClientFrame(0), .text("x")], [ServerFrame(10, [1])], 1002),
        ([.close(1005)], [], 1002),
        ([ClientFrame(8, [3])], [], 1002),
        ([ClientFrame(8, [3, 0xE8, 0xFF])], [], 1007),
        ([ClientFrame(2, [UInt8](repeating: 1, count: 100_001))], [], 1009),
        ([ClientFrame(2, [UInt8](repeating: 1, count: 100_000), isFinal: false), ClientFrame(0, [1])], [], 1009),
    ]

    @Test("Reports broken input with its code, and then ends the connection in order", arguments: broken)
    func brokenInputIsReported(item: (frames: [ClientFrame], answers: [ServerFrame], code: Int)) async throws {
        let handler = TestWebSocket()
        try await withSocket(handler, limits: { $0.webSocket.message = 100_000 }) { client in
            try client.send(item.frames.flatMap(\.bytes) + ClientFrame(9).bytes)
            for answer in item.answers { #expect(try client.takeFrame() == answer) }
            let last = try client.takeFrame()
            #expect(last.closeCode == item.code)
            #expect(last.payload.count > 2)
            #expect(try client.isClosed())
        }
        #expect(handler.state.current.closed == 1)
    }

    @Test("Pending responses limit the reading; then all are sent")
    func whileAnswersAreBeingMade() async throws {
        let goesOn = Box(false)
        let running = Box((now: 0, most: 0))
        let handler = TestWebSocket { message, _ in
            .later {
                running.update {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                _ = await goesOn.reaches { $0 }
                running.update { $0.now -= 1 }
                return OutgoingMessage(text: message.bytes)
            }
        }
        try await withSocket(handler, limits: { $0.webSocket.pendingMessages = 4 }) { client in
            for number in 0..<20 { try client.send(.text("\(number)")) }
            #expect(handler.state.wait { $0.messages.count == 4 })
            // No input is read, not even pings.
            try client.send(ClientFrame(9))
            #expect(client.isQuiet(milliseconds: 100))
            #expect(handler.state.current.messages.count == 4)
            goesOn.update { $0 = true }
            var answers: Set<String> = []
            while answers.count < 20 {
                let frame = try client.takeFrame()
                if frame.opcode == 1 { answers.insert(frame.text) }
            }
            #expect(answers == Set((0..<20).map(String.init)))
            #expect(running.current.most <= 4)
        }
    }

    @Test("Cancels a task whose client leaves, and closes the handler", arguments: ["reset", "end", "close"])
    func aTaskWhoseClientLeaves(how: String) async throws {
        let events = Box<[String]>([])
        let handler = TestWebSocket { _, _ in
            .later {
                events.update { $0.append("started") }
                try? await Task.sleep(for: .seconds(120))
                events.update { $0.append(Task.isCancelled ? "cancelled" : "finished") }
                return nil
            }
        }
        try await withSocket(handler) { client in
            try client.send(.text("x"))
            #expect(events.wait { $0 == ["started"] })
            switch how {
            case "end": client.endOutput()
            case "reset": client.resetOnClose()
            default: try client.send(.close(1000))
            }
        }
        #expect(await events.reaches { $0 == ["started", "cancelled"] })
        #expect(await handler.state.reaches { $0.closed == 1 })
    }

    @Test("Sends one message to many sockets in order from any thread; drops silent ones, without delay for others")
    func oneMessageGoesToMany() async throws {
        let sockets = Box<[WebSocket]>([])
        let handlers = Box<[TestWebSocket]>([])
        let make: @Sendable () -> TestWebSocket = {
            let handler = TestWebSocket()
            handlers.update { $0.append(handler) }
            return handler
        }
        let limits: @Sendable (inout ServerLimits) -> Void = { limits in
            limits.webSocket.unreadEvents = 50_000
            // The clients send nothing for as long as the test takes.
            limits.webSocket.pingInterval = .seconds(600)
        }
        try await withServer(limits: limits, opening(make)) { port in
            let listeners = try (0..<30).map { _ in try TestConnection.webSocket(port) }
            // The last three clients read nothing.
            let deaf = try (0..<3).map { _ in try TestConnection.webSocket(port) }
            #expect(handlers.wait { $0.count == 33 })
            for handler in handlers.current {
                #expect(handler.state.wait { $0.socket != nil })
                if let socket = handler.state.current.socket { sockets.update { $0.append(socket) } }
            }
            let filler = String(repeating: "x", count: 2000)
            for number in 0..<2000 {
                let message = OutgoingMessage(text: "\(number) \(filler)")
                for socket in sockets.current { socket.send(message) }
                for listener in listeners { #expect(try listener.takeFrame().text.hasPrefix("\(number) ")) }
            }
            #expect(handlers.current.suffix(3).allSatisfy { $0.state.wait { $0.closed == 1 } })
            #expect(handlers.current.prefix(30).allSatisfy { $0.state.current.closed == 0 })
            for listener in deaf { #expect(throws: TestConnection.Failure.reset) { try listener.takeRest() } }
        }
    }

    @Test("A shutdown finishes responses, announces the end, and does not wait for silent clients")
    func aShutdownLetsAnswersBeFinished() async throws {
        let goesOn = Box(false)
        let handler = TestWebSocket { message, _ in
            .later {
                _ = await goesOn.reaches { $0 }
                return OutgoingMessage(text: message.bytes)
            }
        }
        let server = HTTPServer(configuration: ServerConfiguration(), application: TestApplication(handler: opening { handler }))
        let port = try server.start().port
        let client = try await onThread { try TestConnection.webSocket(port) }
        try client.send(.text("x"))
        #expect(await handler.state.reaches { $0.messages.count == 1 })
        async let stopped: Void = server.shutdown(within: .seconds(60))
        while (try? TestConnection(port)) != nil { try await nextTurn() }
        goesOn.update { $0 = true }
        #expect(try await onThread { try client.takeFrame() } == .text("x"))
        #expect(try await onThread { try client.takeFrame() }.closeCode == 1001)
        let begin = ContinuousClock.now
        await stopped
        #expect(ContinuousClock.now - begin < .seconds(45))
        #expect(handler.state.current.closed == 1)
        #expect(try await onThread { try client.isClosed() })
    }

    @Test("A socket without a permit may be closed until it is admitted", arguments: [false, true])
    func admission(isAdmitted: Bool) async throws {
        let handler = opening {
            TestWebSocket { message, socket in
                if isAdmitted { socket.admit() }
                return TestWebSocket.echo(message, socket)
            }
        }
        try await withServer(loops: 1, limits: { $0.connections = 1 }, handler) { port in
            let client = try TestConnection.webSocket(port)
            try client.send(.text("x"))
            #expect(try client.takeFrame() == .text("x"))
            #expect(try TestConnection(port).get("/").status == (isAdmitted ? 503 : 200))
        }
    }

    @Test("A socket with a permit counts as a connection, and is not closed for others")
    func aSocketCountsAsAConnection() async throws {
        try await withServer(limits: { $0.connections = 1 }, opening(permit: Permit())) { port in
            let client = try TestConnection.webSocket(port)
            // Its loop has run since the handshake, and has reported to the others that it is not idle.
            try client.send(.text("x"))
            #expect(try client.takeFrame() == .text("x"))
            #expect(try TestConnection(port).get("/").status == 503)
            try client.send(.text("y"))
            #expect(try client.takeFrame() == .text("y"))
        }
        try await withServer(limits: { $0.connectionsPerAddress = 1 }, opening()) { port in
            let client = try TestConnection.webSocket(port)
            // Its loop has run since the handshake, and has reported to the others that it is not idle.
            try client.send(.text("x"))
            #expect(try client.takeFrame() == .text("x"))
            #expect(try TestConnection(port).get("/").status == 503)
            try client.send(.text("y"))
            #expect(try client.takeFrame() == .text("y"))
        }
    }

    @Test("A revoked permit closes its socket only")
    func aPermitThatIsRevoked() async throws {
        let permit = Permit()
        let open = opening(permit: permit)
        let server = HTTPServer(
            configuration: ServerConfiguration(),
            application: TestApplication { request, response in
                let handling = open(request, &response)
                if request.head.target.rawPath.elementsEqual("/other".utf8) { response.permit = Permit() }
                return handling
            })
        let port = try server.start().port
        try await onThread {
            let client = try TestConnection.webSocket(port)
            let other = try TestConnection.webSocket(port, "/other")
            permit.revoke()
            server.endRevoked()
            #expect(try client.takeFrame().closeCode == 1008)
            try client.send(.close(1008))
            #expect(try client.isClosed())
            try other.send(.text("x"))
            #expect(try other.takeFrame() == .text("x"))
        }
        await server.shutdown(within: .zero)
    }
}
