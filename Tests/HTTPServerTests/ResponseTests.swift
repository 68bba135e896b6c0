import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ResponseTests {
    @Test("HEAD has the fields of GET and no body")
    func headHasTheFieldsOf() async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            let head = try client.get("/x", method: "HEAD")
            #expect(head["Content-Length"] == "10")
            #expect(try client.get("/y").text == "GET /y 0 ")
        }
    }

    @Test("204 and 304 have neither body nor length", arguments: [204, 304])
    func n204And304HaveNeither(status: Int) async throws {
        try await withServer { request, response in
            response.status = HTTPStatus(request.head.target.path == "/" ? status : 200)
            response.body = Array("body".utf8)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            let response = try client.get("/")
            #expect(response.status == status)
            #expect(response["Content-Length"] == nil)
            #expect(response["Transfer-Encoding"] == nil)
            #expect(try client.get("/more").text == "body")
        }
    }

    @Test("The application cannot set the server's fields, nor split the message")
    func theServersFieldsCantBe() async throws {
        try await withServer { _, response in
            for name in ["Date", "Content-Length", "Transfer-Encoding", "Connection", "X-Request-Id", "X-Content-Type-Options"] {
                guard let name = FieldName(name) else { continue }
                response.fields.append(name, "nonsense")
            }
            response.fields.append(.location, "/a\r\nSet-Cookie: b=c")
            response.body = Array("ok".utf8)
            return .ready
        } client: { port in
            let response = try TestConnection(port).get("/")
            #expect(response.text == "ok")
            #expect(!response.fields.contains { $0.value == "nonsense" })
            for name in ["Date", "Content-Length", "X-Request-Id", "X-Content-Type-Options"] {
                #expect(response.count(name) == 1)
            }
            #expect(response["Set-Cookie"] == nil)
        }
    }

    @Test("Adds default fields that the application does not set", arguments: [200, 404, 204])
    func defaultFieldsAreThoseThat(status: Int) async throws {
        let fields =
            [(name: FieldName(constant: "X-One"), value: "1"), (name: FieldName(constant: "X-Two"), value: "2")]
            + [(name: .date, value: "never"), (name: .contentLength, value: "7")]
        try await withServer(defaultFields: fields) { request, response in
            response.status = HTTPStatus(status)
            if request.head.target.path == "/own" { response.fields.append(FieldName(constant: "X-ONE"), "own") }
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            for (path, one) in [("/", "1"), ("/own", "own"), ("/", "1")] {
                let response = try client.get(path)
                #expect(response.status == status)
                #expect(response["X-One"] == one && response["X-Two"] == "2")
                for name in ["X-One", "X-Two", "Date", "X-Request-Id"] { #expect(response.count(name) == 1) }
            }
            try client.send("nonsense\r\n\r\n")
            let refusal = try client.readResponse()
            #expect(refusal.status == 400 && refusal["X-One"] == "1" && refusal["X-Two"] == "2")
        }
    }

    @Test("An informational status is an application's error")
    func anInformationalStatusIsAn() async throws {
        try await withServer { _, response in
            response.status = HTTPStatus(101)
            return .ready
        } client: { port in
            let response = try TestConnection(port).get("/")
            #expect(response.status == 500)
        }
    }

    @Test("Bodies of any size arrive whole, pipelined too", arguments: [1000, 8192, 65_536, 65_537, 5_000_000])
    func bodiesOfAnySizeArrive(size: Int)
        async throws
    {
        try await withServer { request, response in
            response.body = [UInt8](repeating: request.head.target.rawPath.last ?? 0, count: size)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            try client.send((0..<8).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            for number in 0..<8 {
                let body = try client.readResponse().body
                #expect(body == [UInt8](repeating: 0x30 + UInt8(number), count: size))
            }
        }
    }

    @Test("Sends the response of a task as any other")
    func anAnswerOfATask() async throws {
        try await withServer { request, response in
            let body = request.body
            return .later {
                await Task.yield()
                var response = Response(status: .created)
                response.body = body + Array("!".utf8)
                response.fields.append(.location, "/new")
                return response
            }
        } client: { port in
            let client = try TestConnection(port)
            for number in 0..<50 {
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: r\(number)\r\nContent-Length: 2\r\n\r\nhi")
                let response = try client.readResponse()
                #expect(response.status == 201)
                #expect(response.text == "hi!")
                #expect(response["X-Request-Id"] == "r\(number)")
                #expect(response["Location"] == "/new")
            }
        }
    }

    @Test(
        "Cancels a task when its client leaves, by FIN or RST", arguments: [("1.1", false), ("1.1", true), ("1.0", false)])
    func aTaskIsCancelledWhen(version: String, resets: Bool) async throws {
        let events = Box<[String]>([])
        try await withServer(limits: { $0.halfCloseGrace = .milliseconds(50) }) { _, _ in
            .later {
                events.update { $0.append("started") }
                do {
                    try await Task.sleep(for: .seconds(30))
                } catch {
                    events.update { $0.append("cancelled") }
                }
                return Response()
            }
        } client: { port in
            do {
                let client = try TestConnection(port)
                try client.send("GET / HTTP/\(version)\r\nHost: x\r\n\r\n")
                #expect(events.wait { $0 == ["started"] })
                if resets { client.resetOnClose() }
            }
            #expect(events.wait { $0 == ["started", "cancelled"] })
        }
    }

    @Test(
        "A client that closes its writing side gets the response of a long task, after an interim one unless it speaks 1.0",
        arguments: [("1.0", [200]), ("1.1", [100, 200])])
    func aClientThatClosesItsWritingSide(version: String, statuses: [Int]) async throws {
        let release = Box(false)
        // A client that speaks 1.0 counts as left in the end.
        let grace: Duration = version == "1.0" ? .seconds(60) : .milliseconds(1)
        try await withServer(limits: { $0.halfCloseGrace = grace }) { _, _ in
            .later {
                _ = await release.reaches { $0 }
                return Response()
            }
        } client: { port in
            let client = try TestConnection(port)
            try client.send("GET / HTTP/\(version)\r\nHost: x\r\n\r\n")
            client.endOutput()
            if statuses.count > 1 {
                #expect(try client.readHead().status == statuses[0])
            } else {
                #expect(client.isQuiet(milliseconds: 100))
            }
            release.update { $0 = true }
            #expect(try client.readResponse().status == statuses.last)
            #expect(try client.isClosed())
        }
    }

    @Test("Drops a late response to a client that has left, and closes its stream")
    func aLateAnswerToA() async throws {
        let stream = TestStream()
        let release = Box(false)
        let started = Box(false)
        try await withServer(limits: { $0.halfCloseGrace = .milliseconds(1) }) { _, _ in
            .later {
                started.update { $0 = true }
                _ = await release.reaches { $0 }
                var response = Response()
                response.content = .stream(stream, length: nil)
                return response
            }
        } client: { port in
            do {
                let client = try TestConnection(port)
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(started.wait { $0 })
                client.resetOnClose()
            }
            // Another client may use the connection's slot before the response arrives.
            let other = try TestConnection(port)
            try other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(other.isQuiet(milliseconds: 20))
            other.resetOnClose()
            release.update { $0 = true }
            #expect(stream.state.wait { $0.closed >= 1 })
        }
    }
}
