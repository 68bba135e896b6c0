import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ShutdownTests {
    private func server(
        _ handler: @escaping @Sendable (borrowing Request, inout Response) -> Handling
    ) throws -> (HTTPServer, Int) {
        let server = HTTPServer(configuration: ServerConfiguration(), application: TestApplication(handler: handler))
        return (server, try server.start().port)
    }

    @Test("Closes idle connections at once, and refuses new ones")
    func idleConnectionsAreClosedAt() async throws {
        let (server, port) = try server(echo)
        let client = try TestConnection(port)
        #expect(try await onThread { try client.get("/").status } == 200)
        let begin = ContinuousClock.now
        await server.shutdown(within: .seconds(60))
        #expect(ContinuousClock.now - begin < .seconds(45))
        #expect(try await onThread { try client.isClosed() })
        #expect(server.connectionCount == 0)
        #expect(throws: TestConnection.Failure.self) { try TestConnection(port) }
        // A second shutdown has no effect.
        await server.shutdown(within: .seconds(60))
    }

    @Test("Finishes running responses, with Connection: close")
    func runningResponsesFinish() async throws {
        let isStarted = Box(false)
        let goesOn = Box(false)
        let (server, port) = try server { _, _ in
            .later {
                isStarted.update { $0 = true }
                _ = await goesOn.reaches { $0 }
                var response = Response()
                response.body = Array("done".utf8)
                return response
            }
        }
        let client = try TestConnection(port)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await isStarted.reaches { $0 })
        async let stopped: Void = server.shutdown(within: .seconds(60))
        // The stop has begun when connections are refused.
        while (try? TestConnection(port)) != nil { try await nextTurn() }
        goesOn.update { $0 = true }
        let response = try await onThread { try client.readResponse() }
        #expect(response.text == "done")
        #expect(response["Connection"] == "close")
        #expect(try await onThread { try client.isClosed() })
        await stopped
    }

    @Test("Notifies streams, which end properly")
    func streamsAreNotifiedAndEnd() async throws {
        let stream = TestStream([("hello", .wait(until: nil))])
        let (server, port) = try server { _, response in
            response.content = .stream(stream, length: nil)
            return .ready
        }
        let client = try TestConnection(port)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await onThread { try client.readHead().status } == 200)
        #expect(try await onThread { try client.readChunk() } == Array("hello".utf8))
        let begin = ContinuousClock.now
        await server.shutdown(within: .seconds(60))
        #expect(ContinuousClock.now - begin < .seconds(45))
        #expect(try await onThread { try client.readChunk() } == nil)
        #expect(try await onThread { try client.isClosed() })
        #expect(stream.state.current.stopped == 1)
        #expect(stream.state.current.closed == 1)
    }

    @Test("Notifies a stream that a task returns during the shutdown")
    func aStreamThatATask() async throws {
        let stream = TestStream([("last words", .more)])
        let isStarted = Box(false)
        let goesOn = Box(false)
        let (server, port) = try server { _, _ in
            .later {
                isStarted.update { $0 = true }
                _ = await goesOn.reaches { $0 }
                var response = Response()
                response.content = .stream(stream, length: nil)
                return response
            }
        }
        let client = try TestConnection(port)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await isStarted.reaches { $0 })
        async let stopped: Void = server.shutdown(within: .seconds(60))
        while (try? TestConnection(port)) != nil { try await nextTurn() }
        goesOn.update { $0 = true }
        #expect(try await onThread { try client.readResponse().status } == 200)
        await stopped
        #expect(stream.state.current.stopped == 1)
        #expect(stream.state.current.closed == 1)
    }

    @Test("Cuts off responses that do not end in time")
    func lateResponsesAreCutOff() async throws {
        let events = Box<[String]>([])
        let (server, port) = try server { _, _ in
            .later {
                events.update { $0.append("started") }
                try? await Task.sleep(for: .seconds(60))
                events.update { $0.append(Task.isCancelled ? "cancelled" : "finished") }
                return Response()
            }
        }
        let client = try TestConnection(port)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await events.reaches { !$0.isEmpty })
        await server.shutdown(within: .milliseconds(50))
        #expect(try await onThread { try client.isClosed() })
        #expect(await events.reaches { $0 == ["started", "cancelled"] })
    }

    @Test("Shuts down a server that was never started")
    func aServerThatWasNever() async {
        let server = HTTPServer(configuration: ServerConfiguration(), application: TestApplication(handler: echo))
        await server.shutdown(within: .seconds(1))
        #expect(server.connectionCount == 0)
    }
}
