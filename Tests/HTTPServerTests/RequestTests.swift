import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct RequestTests {
    @Test("A response has the server's own fields")
    func aRequestIsAnsweredWith() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            let response = try client.get("/hello")
            #expect(response.status == 200)
            #expect(response.text == "GET /hello 0 ")
            #expect(response["X-Content-Type-Options"] == "nosniff")
            #expect(response["X-Request-Id"]?.count == 13)
            #expect(response["Content-Length"] == "13")
            #expect(response["Connection"] == nil)
            #expect(response["Date"].flatMap { HTTPDate(parsing: $0) } != nil)
            let second = try client.get("/again")
            #expect(second.text == "GET /again 0 ")
            #expect(second["X-Request-Id"] != response["X-Request-Id"])
        }
    }

    @Test("A request is the same in every division")
    func aRequestSplitAtEvery() async throws {
        let request = Array("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello".utf8)
        try await withServer(echo) { port in
            for split in 1..<request.count {
                let client = try TestConnection(port)
                try client.send(Array(request[..<split]))
                // Two requests on the connection: the second arrives byte by byte.
                try client.send(Array(request[split...]))
                #expect(try client.readResponse().text == "POST /a 5 hello")
            }
            let client = try TestConnection(port)
            for byte in request + request { try client.send([byte]) }
            #expect(try client.readResponse().text == "POST /a 5 hello")
            #expect(try client.readResponse().text == "POST /a 5 hello")
        }
    }

    @Test("Responds to a hundred pipelined requests in order")
    func aHundredPipelinedRequestsAre() async throws {
        try await withServer { request, response in
            // Every third response is delayed.
            let target = String(decoding: request.head.target.rawPath, as: UTF8.self)
            guard target.count % 3 == 0 else {
                response.body = Array(target.utf8)
                return .ready
            }
            return .later {
                await Task.yield()
                var response = Response()
                response.body = Array(target.utf8)
                return response
            }
        } client: { port in
            let client = try TestConnection(port)
            let targets = (0..<100).map { "/" + String(repeating: "x", count: $0 % 7) + "\($0)" }
            try client.send(targets.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            for target in targets { #expect(try client.readResponse().text == target) }
        }
    }

    @Test("Pipelined bodies end at their framing, sized and chunked")
    func pipelinedBodiesEndWhereThey() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send(
                "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                    + "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x=y\r\nf\r\n0\r\nT: v\r\n\r\n"
                    + "PUT /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readResponse().text == "POST /1 3 abc")
            #expect(try client.readResponse().text == "POST /2 3 def")
            #expect(try client.readResponse().text == "PUT /3 0 ")
            #expect(try client.readResponse().text == "GET /4 0 ")
        }
    }

    @Test("Accepts a body of exactly the limit")
    func aBodyOfExactlyThe() async throws {
        try await withServer { request, response in
            response.body = Array("\(request.body.count)".utf8)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n")
            try client.send([UInt8](repeating: 7, count: 1_048_576))
            #expect(try client.readResponse().text == "1048576")
            #expect(try client.get("/").text == "0")
        }
    }

    @Test("Sends 100 Continue once before the body to a waiting 1.1 client")
    func n100ContinueIsSentTo() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send("POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            let interim = try client.readResponse()
            #expect(interim.status == 100)
            #expect(interim.fields.isEmpty)
            try client.send("ok")
            #expect(try client.readResponse().text == "POST /c 2 ok")
            // The body has arrived already.
            try client.send("POST /d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok")
            #expect(try client.readResponse().text == "POST /d 2 ok")
        }
    }

    @Test("A 1.0 client gets no 100 Continue, and is closed unless it requests keep-alive")
    func a10ClientGetsNo() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send("POST /c HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: keep-alive\r\n\r\n")
            #expect(client.isQuiet(milliseconds: 50))
            try client.send("ok")
            let kept = try client.readResponse()
            #expect(kept.text == "POST /c 2 ok")
            #expect(kept["Connection"] == "keep-alive")
            try client.send("GET /e HTTP/1.0\r\n\r\n")
            let last = try client.readResponse()
            #expect(last.text == "GET /e 0 ")
            #expect(last["Connection"] == "close")
            #expect(try client.isClosed())
        }
    }

    @Test("Responds to Connection: close and closes")
    func connectionCloseIsAnsweredAnd() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            let response = try client.get("/x", "Connection: close")
            #expect(response.text == "GET /x 0 ")
            #expect(response["Connection"] == "close")
            #expect(try client.isClosed())
        }
    }

    @Test("Keeps a valid X-Request-Id of the client", arguments: ["abc-1.2:3/4+5=_", String(repeating: "x", count: 128)])
    func aSaneXRequestIdIsThe(identifier: String) async throws {
        try await withServer { request, response in
            response.body = Array(request.id.description.utf8)
            return .ready
        } client: { port in
            let response = try TestConnection(port).get("/", "X-Request-Id: \(identifier)")
            #expect(response.text == identifier)
            #expect(response["X-Request-Id"] == identifier)
        }
    }

    @Test("Replaces an invalid X-Request-Id", arguments: ["a b", "<script>", "a\"b", String(repeating: "x", count: 129)])
    func anotherXRequestIdIsReplaced(identifier: String) async throws {
        try await withServer(echo) { port in
            let response = try TestConnection(port).get("/", "X-Request-Id: \(identifier)")
            #expect(response["X-Request-Id"]?.count == 13)
        }
    }

    @Test("A client that half-closes after its requests gets all responses")
    func aClientThatHalfclosesAfter() async throws {
        let hasEnded = Box(false)
        try await withServer(limits: { $0.halfCloseGrace = .seconds(120) }) { request, response in
            let target = String(decoding: request.head.target.rawPath, as: UTF8.self)
            return .later {
                _ = await hasEnded.reaches { $0 }
                var response = Response()
                response.body = Array(target.utf8)
                return response
            }
        } client: { port in
            let client = try TestConnection(port)
            try client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
            client.endOutput()
            hasEnded.update { $0 = true }
            #expect(try client.readResponse().text == "/1")
            #expect(try client.readResponse().text == "/2")
            #expect(try client.isClosed())
        }
    }
}
