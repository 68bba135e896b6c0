import HTTPClient
import HTTPCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct FetchTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    @Test("Fetches a body with its head")
    func bodyIsFetchedWithHead() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(200, [("ETag", "\"a\tb\""), ("X-Twice", "1"), ("x-twice", "2")], body: Array("hello".utf8))]
        }
        let response = try await client.fetch(ClientRequest(origin, "/a/../b?c=d"), bodyLimit: 100)
        #expect(response.head.status == .ok)
        #expect(response.head.fields[.etag] == "\"a\tb\"")
        #expect(FieldName("X-Twice").map { response.head.fields.values($0) } == ["1", "2"])
        #expect(response.head.contentLength == 5)
        #expect(response.head.url.string == origin.url("/a/../b?c=d"))
        #expect(response.body == Array("hello".utf8))
        let request = try #require(origin.requests.first)
        #expect(request.method == "GET")
        #expect(request.target == "/a/../b?c=d")
        #expect(request["Accept-Encoding"] == "identity")
        #expect(request["User-Agent"] == "pawl")
        #expect(request["Host"] == "127.0.0.1:\(origin.port)")
        #expect(request.fields.map(\.name).sorted() == ["Accept", "Accept-Encoding", "Host", "User-Agent"])
    }

    @Test("Sends fields, range and validator as given")
    func fieldsAreSentAsGiven() async throws {
        let origin = try ScriptedOrigin { _ in [.response(206, [("Content-Range", "bytes 5-5/6")], body: [1])] }
        var request = try ClientRequest(origin)
        request.fields = [("X-One", "a: b"), ("Empty", ""), ("user-agent", "mine"), ("Cookie", "a=b")]
        request.range = "bytes=5-"
        request.ifRange = "\"é\""
        let response = try await client.fetch(request, bodyLimit: 100)
        #expect(response.head.status == .partialContent)
        let sent = try #require(origin.requests.first)
        #expect(sent["X-One"] == "a: b")
        #expect(sent["Empty"] == "")
        #expect(sent.fields.filter { $0.name.lowercased() == "user-agent" }.map(\.value) == ["mine"])
        #expect(sent["Cookie"] == "a=b")
        #expect(sent["Range"] == "bytes=5-")
        #expect(sent["If-Range"] == "\"Ã©\"")
    }

    @Test("Sends a validator back byte by byte")
    func validatorIsSentBack() async throws {
        let tag: [UInt8] = [0x22] + Array(UInt8(0x80)...0xff) + [0x22]
        let origin = try ScriptedOrigin { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: ".utf8) + tag + Array("\r\n\r\n".utf8))]
        }
        var request = try ClientRequest(origin)
        let value = try #require(try await client.fetch(request, bodyLimit: 0).head.fields.value(.etag))
        #expect(value.bytes == tag)
        request.range = "bytes=5-"
        request.ifRange = value
        _ = try await client.fetch(request, bodyLimit: 0)
        #expect(origin.requests.last?["If-Range"] == value.latin1)
    }

    @Test("Sends content with its length and no other fields", arguments: ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
    func contentIsSentWithLength(method: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200)] }
        var request = try ClientRequest(origin)
        request.method = method
        // Beyond the megabyte at which libcurl waits for 100 (Continue).
        let content = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        request.body = .bytes(content)
        request.fields = [("Content-Type", "application/json")]
        _ = try await client.fetch(request, bodyLimit: 0)
        let sent = try #require(origin.requests.first)
        #expect(sent.method == method)
        #expect(sent.body == content)
        #expect(sent["Content-Length"] == "1500000")
        #expect(sent["Content-Type"] == "application/json")
        #expect(sent["Expect"] == nil)
        request.fields = []
        request.body = []
        _ = try await client.fetch(request, bodyLimit: 0)
        #expect(origin.requests.last?["Content-Length"] == "0")
        #expect(origin.requests.last?["Content-Type"] == nil)
    }

    @Test("A method without content sends none")
    func emptyMethodSendsNoContent() async throws {
        let origin = try ScriptedOrigin { _ in [.response(204)] }
        for (method, length) in [("DELETE", nil), ("OPTIONS", nil), ("POST", "0")] {
            var request = try ClientRequest(origin)
            request.method = method
            _ = try await client.fetch(request, bodyLimit: 0)
            #expect(origin.requests.last?.method == method)
            #expect(origin.requests.last?["Content-Length"] == length)
        }
    }

    @Test("HEAD has the length of the body and no body")
    func headHasNoBody() async throws {
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")] }
        var request = try ClientRequest(origin)
        request.method = "HEAD"
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(response.head.contentLength == 1000)
        #expect(response.body.isEmpty)
        #expect(origin.requests.first?.method == "HEAD")
    }

    @Test("Skips interim responses")
    func interimResponseIsNotFinal() async throws {
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 103 Early Hints\r\nETag: \"no\"\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"), .response(404, body: [7])]
        }
        let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(response.head.status == .notFound)
        #expect(response.head.fields[.etag] == nil)
        #expect(response.body == [7])
    }

    @Test("Joins a chunked body and ignores trailers")
    func chunkedBodyIsJoined() async throws {
        let origin = try ScriptedOrigin { _ in
            [
                .text(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nETag: \"late\"\r\n\r\n"
                )
            ]
        }
        let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(response.body == Array("hello!".utf8))
        #expect(response.head.contentLength == nil)
        #expect(response.head.fields[.etag] == nil)
    }

    @Test("A body without a length ends with the connection")
    func bodyEndsWithConnection() async throws {
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.0 200 OK\r\n\r\nhello"), .close] }
        let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(response.body == Array("hello".utf8))
        #expect(response.head.contentLength == nil)
    }

    @Test("A body may be as large as the limit", arguments: [(100, true), (99, false), (0, false)])
    func bodyMayReachLimit(limit: Int, fits: Bool) async throws {
        let body = [UInt8](repeating: 7, count: 100)
        let sized = try ScriptedOrigin { _ in [.response(body: body)] }
        let unsized = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\n\r\n"), .send(body), .close] }
        for origin in [sized, unsized] {
            let request = try ClientRequest(origin)
            #expect(await client.failure(of: request, bodyLimit: limit) == (fits ? nil : .bodyTooLarge(limit)))
        }
    }

    // gzip of "hello, hello, hello"
    static let compressed: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0x40, 0xa2,
        0x00, 0x9f, 0xa1, 0xca, 0x09, 0x13, 0x00, 0x00, 0x00,
    ]

    @Test("Decodes content only on request")
    func contentIsDecodedOnlyIfAsked() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, [("Content-Encoding", "gzip")], body: Self.compressed)] }
        let raw = try await client.fetch(ClientRequest(origin), bodyLimit: 100)
        #expect(raw.body == Self.compressed)
        #expect(raw.head.contentLength == Int64(Self.compressed.count))
        var request = try ClientRequest(origin)
        request.acceptsEncodings = true
        let decoded = try await client.fetch(request, bodyLimit: 100)
        #expect(String(decoding: decoded.body, as: UTF8.self) == "hello, hello, hello")
        #expect(decoded.head.contentLength == nil)
        #expect(origin.requests.last?["Accept-Encoding"] == "gzip, deflate")
    }

    @Test("The limit applies to decoded bytes")
    func limitHoldsForDecodedBytes() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, [("Content-Encoding", "gzip")], body: Self.compressed)] }
        var request = try ClientRequest(origin)
        request.acceptsEncodings = true
        await #expect(throws: ClientError.bodyTooLarge(18)) { try await client.fetch(request, bodyLimit: 18) }
    }

    @Test(
        "Damaged and unknown codings are errors if decoding is requested",
        arguments: [("gzip", [UInt8](repeating: 0x55, count: 50)), ("something", [1, 2, 3])])
    func badCodingsAreErrors(coding: String, body: [UInt8]) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, [("Content-Encoding", coding)], body: body)] }
        var request = try ClientRequest(origin)
        request.acceptsEncodings = true
        let error = try #require(await client.failure(of: request))
        #expect(["unsupportedEncoding", "transferBroken"].contains(error.kind), "\(error)")
    }

    @Test(
        "Does not send ambiguous requests",
        arguments: [
            ("GE T", []), ("", []), ("CONNECT", []), ("GET\r\nX: y", []), ("GET", [("a b", "c")]), ("GET", [("", "c")]),
            ("GET", [("A", "b\r\nC: d")]), ("GET", [("A", "b\0")]), ("GET", [("Host", "x")]), ("GET", [("content-LENGTH", "5")]),
            ("GET", [("Transfer-Encoding", "chunked")]), ("GET", [("Connection", "close")]), ("GET", [("Range", "bytes=0-1")]),
            ("GET", [("Accept-Encoding", "gzip")]), ("GET", [("X:Y", "z")]),
        ] as [(String, [(String, String)])])
    func ambiguousRequestsAreNotSent(method: String, fields: [(String, String)]) async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        var request = try ClientRequest(origin)
        request.method = method
        request.fields = fields.map { (name: $0.0, value: $0.1) }
        let error = try #require(await client.failure(of: request))
        #expect(error.kind == "invalidRequest")
        #expect(!error.message.contains("C: d"))
        #expect(origin.requests.isEmpty)
    }

    @Test("User information becomes Basic credentials for its origin only")
    func userInformationBecomesCredentials() async throws {
        let other = try ScriptedOrigin { _ in [.response()] }
        let origin = try ScriptedOrigin { request in
            request.target == "/away" ? [.redirect(to: other.url("/x"))] : [.redirect(to: "/away")]
        }
        var request = ClientRequest(url: try url("http://na%3Ame:pass@127.0.0.1:\(origin.port)/"))
        request.range = "bytes=1-"
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(origin.requests.map { $0["Authorization"] } == ["Basic bmE6bWU6cGFzcw==", "Basic bmE6bWU6cGFzcw=="])
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        #expect(other.requests.first?["Range"] == "bytes=1-")
        #expect(!response.head.url.hasUserInfo)
    }

    @Test("Cancelling the task cancels the transfer")
    func cancellingTaskCancelsTransfer() async throws {
        let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"), .stall] }
        let request = try ClientRequest(origin)
        let task = Task { [client] in try await client.fetch(request, bodyLimit: 10) }
        try await origin.requests(atLeast: 1)
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        try await origin.openConnections(exactly: 0)
    }

    @Test("A cancelled task sends no request")
    func cancelledTaskSendsNothing() async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        let request = try ClientRequest(origin)
        let gate = Gate()
        let task = Task { [client] in
            try? await gate.wait()
            return try await client.fetch(request, bodyLimit: 10)
        }
        task.cancel()
        gate.open()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        #expect(origin.requests.isEmpty)
    }

    @Test("Sends the configured name, and refuses a missing CA file at once")
    func configuredNameIsSent() async throws {
        let origin = try ScriptedOrigin { _ in [.response()] }
        var configuration = ClientConfiguration()
        configuration.userAgent = "pawl/9"
        _ = try await HTTPClient(configuration: configuration).fetch(ClientRequest(origin), bodyLimit: 0)
        #expect(origin.requests.first?["User-Agent"] == "pawl/9")
        configuration.caFile = "/nonexistent/ca.pem"
        do {
            _ = try HTTPClient(configuration: configuration)
            Issue.record("started")
        } catch {
            #expect(error == .tls("the CA file /nonexistent/ca.pem cannot be read: No such file or directory"))
        }
    }
}
