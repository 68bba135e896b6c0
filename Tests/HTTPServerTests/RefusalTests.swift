import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct RefusalTests {
    @Test(
        "A refused request gets the application's explanation, and the connection closes",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
            ("BREW / HTTP/1.1\nHost: x\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417),
            ("GET /" + String(repeating: "x", count: 9000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: x\r\nA: " + String(repeating: "x", count: 90_000) + "\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "A: b\r\n", count: 101) + "\r\n", 431),
            ("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\nExpect: 100-continue\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n", 413),
        ])
    func aRefusedRequestIsAnswered(request: String, status: Int) async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            // A valid request precedes it.
            try client.send("GET /fine HTTP/1.1\r\nHost: x\r\n\r\n" + request)
            #expect(try client.readResponse().text == "GET /fine 0 ")
            let response = try client.readResponse()
            #expect(response.status == status)
            #expect(response["Connection"] == "close")
            #expect(response["Content-Type"] == "text/plain")
            #expect(response["X-Content-Type-Options"] == "nosniff")
            #expect(response["X-Request-Id"] != nil)
            #expect(!response.text.isEmpty)
            client.endOutput()
            #expect(try client.isClosed())
        }
    }

    /// Reads bodies at `/read`, ignores them at `/ignore`, and refuses them elsewhere.
    private static func decide(_ request: borrowing Request, _ response: inout Response) -> BodyDecision {
        switch String(decoding: request.head.target.rawPath, as: UTF8.self) {
        case "/read": return .read
        case "/ignore": return .ignore
        default:
            response.status = HTTPStatus(401)
            response.body = Array("refused \(request.peer.host) \(request.body.count)".utf8)
            return .refuse
        }
    }

    @Test(
        "Does not wait for an unwanted body: responds to the head and closes",
        arguments: [
            "Content-Length: 1000000", "Content-Length: 1", "Content-Length: 2000000000", "Transfer-Encoding: chunked",
            "Content-Length: 1000\r\nExpect: 100-continue",
        ])
    func aBodyThatIsNotWanted(framing: String) async throws {
        try await withServer(decision: Self.decide, echo) { port in
            for (path, status, text) in [("/no", 401, "refused 127.0.0.1 0"), ("/ignore", 200, "POST /ignore 0 ")] {
                let client = try TestConnection(port)
                // A request with a wanted body precedes it; one without a body is not checked.
                try client.send(
                    "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /no HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.readResponse().text == "POST /read 3 abc")
                #expect(try client.readResponse().text == "GET /no 0 ")
                try client.send("POST \(path) HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\(framing)\r\n\r\n")
                let response = try client.readResponse()
                #expect(response.status == status)
                #expect(response.text == text)
                #expect(response["Connection"] == "close")
                #expect(response["X-Request-Id"] == "mine")
                client.endOutput()
                #expect(try client.isClosed())
            }
        }
    }

    @Test("Bytes of an unwanted body are no request, and use no memory", arguments: ["/no", "/ignore"])
    func unwantedBodies(path: String) async throws {
        let requests = Box(0)
        let count: @Sendable (borrowing Request, inout Response) -> Handling = { request, response in
            requests.update { $0 += 1 }
            return echo(request, &response)
        }
        try await withServer(decision: Self.decide, count) { port in
            let client = try TestConnection(port)
            let request = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
            try client.send("POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n\(request)")
            for _ in 0..<19 { try client.send([UInt8](repeating: 1, count: 1_000_000)) }
            #expect(try client.readResponse().status == (path == "/no" ? 401 : 200))
            client.endOutput()
            #expect(try client.isClosed())
        }
        #expect(requests.current == (path == "/no" ? 0 : 1))
    }

    @Test("Sends a later response although the body is ignored")
    func aResponseThatComesLater() async throws {
        try await withServer(decision: Self.decide) { _, _ in
            .later { Response(status: HTTPStatus(202)) }
        } client: { port in
            let client = try TestConnection(port)
            try client.send("GET /ignore HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            let response = try client.readResponse()
            #expect(response.status == 202)
            #expect(response["Connection"] == "close")
        }
    }

    @Test("The refusal of a HEAD has no body")
    func theRefusalOfAHEAD() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send("HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
            let response = try client.readResponse(isHead: true)
            #expect(response.status == 413)
            #expect(response["Content-Length"] != "0")
            #expect(try client.takeRest().isEmpty)
        }
    }

    @Test("A client that sends its whole body before reading still gets the 413")
    func aClientThatSendsA() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n")
            for _ in 0..<20 { try client.send([UInt8](repeating: 1, count: 1_000_000)) }
            #expect(try client.readResponse().status == 413)
            #expect(try client.isClosed())
        }
    }

    @Test("Draining has a limit")
    func drainingIsBounded() async throws {
        try await withServer(limits: { $0.lingerBytes = 1_000_000 }, echo) { port in
            let client = try TestConnection(port)
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000000\r\n\r\n")
            #expect(throws: TestConnection.Failure.reset) {
                for _ in 0..<1000 { try client.send([UInt8](repeating: 1, count: 1_000_000)) }
            }
        }
    }

    @Test("Closes a refused client that stays silent")
    func aRefusedClientThatGoes() async throws {
        try await withServer(limits: { $0.lingerTimeout = .milliseconds(50) }, echo) { port in
            let client = try TestConnection(port)
            try client.send("GET\r\n\r\n")
            #expect(try client.readResponse().status == 400)
            #expect(try client.isClosed())
        }
    }

    @Test("Cuts off a slow head on time")
    func aHeadThatDribblesIn() async throws {
        try await withServer(limits: { $0.headTimeout = .milliseconds(800) }, echo) { port in
            let client = try TestConnection(port)
            #expect(try client.get("/").status == 200)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nA: ")
            var sent = 0
            while client.isQuiet(milliseconds: 10), sent < 500 {
                try client.send("x")
                sent += 1
            }
            let response = try client.readResponse()
            #expect(response.status == 408)
            #expect(response["Connection"] == "close")
            #expect(sent > 3)
        }
    }

    @Test("Closes a silent new connection without a response")
    func aNewConnectionThatSays() async throws {
        try await withServer(limits: { $0.headTimeout = .milliseconds(50) }, echo) { port in
            let rest = try TestConnection(port).takeRest()
            #expect(rest.isEmpty)
        }
    }

    @Test("Closes an idle kept connection")
    func anIdleKeptConnectionIs() async throws {
        try await withServer(limits: { $0.idleTimeout = .milliseconds(50) }, echo) { port in
            let client = try TestConnection(port)
            #expect(try client.get("/").status == 200)
            #expect(try client.takeRest().isEmpty)
        }
    }

    @Test("Cuts off a slow body with 408", arguments: ["Content-Length: 100", "Transfer-Encoding: chunked"])
    func aBodyThatIsToo(framing: String) async throws {
        try await withServer(limits: { $0.bodyRateWindow = .milliseconds(100) }, echo) { port in
            let client = try TestConnection(port)
            try client.send("POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n5\r\n")
            #expect(try client.readResponse().status == 408)
        }
    }
}
