import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Redirects on real connections; the decisions themselves are in ``RedirectPolicyTests``.
@Suite(.timeLimit(.minutes(3)))
struct RedirectTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    @Test("Redirects are followed within an origin, on one connection", arguments: [301, 302, 303, 307, 308])
    func redirectReusesConnection(status: Int) async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/a/b"
                ? [.response(status, [("Location", "../c?d")], body: Array("moved".utf8))] : [.response(body: Array("here".utf8))]
        }
        var request = try ClientRequest(origin, "/a/b")
        request.fields = [("X-Key", "k")]
        request.range = "bytes=0-"
        request.ifRange = "\"v\""
        let sink = RecordingSink()
        client.start(request, sink: sink)
        let summary = try await sink.outcome().get()
        #expect(summary.head.url.string == origin.url("/c?d"))
        #expect(summary.bodyBytes == 4)
        #expect(sink.record.value.heads.count == 1)
        #expect(sink.record.value.bytes == Array("here".utf8))
        #expect(origin.requests.map { $0["X-Key"] } == ["k", "k"])
        #expect(origin.requests.map { $0["Range"] } == ["bytes=0-", "bytes=0-"])
        #expect(origin.requests.map { $0["If-Range"] } == ["\"v\"", "\"v\""])
        #expect(origin.connectionCount == 1)
    }

    @Test("Secrets do not cross origins and do not come back")
    func secretsStayAtOrigin() async throws {
        let home = Waiter("")
        let other = try ScriptedOrigin { _ in [.redirect(307, to: home.value)] }
        let origin = try ScriptedOrigin { request in
            request.target == "/start" ? [.redirect(to: other.url("/x"))] : [.response(body: [1])]
        }
        home.update { $0 = origin.url("/back") }
        var request = try ClientRequest(origin, "/start")
        request.fields = [("Authorization", "Bearer secret"), ("Cookie", "s=1"), ("X-Api-Key", "k"), ("User-Agent", "mine")]
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(response.head.url.string == origin.url("/back"))
        #expect(origin.requests[0]["Authorization"] == "Bearer secret")
        for request in [other.requests[0], origin.requests[1]] {
            #expect(request.fields.map(\.name).sorted() == ["Accept", "Accept-Encoding", "Host", "User-Agent"])
            #expect(request["User-Agent"] == "pawl")
        }
    }

    @Test("A loop ends")
    func redirectLoopEnds() async throws {
        let origin = try ScriptedOrigin { _ in [.redirect(to: "/")] }
        await #expect(throws: ClientError.tooManyRedirects(status: 302)) {
            try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        }
        #expect(origin.requests.count == 11)
    }

    @Test("Other schemes are not followed", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
    func otherSchemeIsNotFollowed(location: String) async throws {
        let origin = try ScriptedOrigin { _ in [.redirect(to: location)] }
        #expect(await client.failure(of: try ClientRequest(origin))?.kind == "unsupportedScheme")
    }

    @Test("A form becomes a GET and a webhook stays what it is")
    func formBecomesGet() async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/end" ? [.response()] : [.redirect(request.target == "/form" ? 303 : 308, to: "/end")]
        }
        var request = try ClientRequest(origin, "/form")
        request.method = "POST"
        request.body = .bytes(Array("content".utf8))
        _ = try await client.fetch(request, bodyLimit: 10)
        request.url = try url(origin.url("/hook"))
        _ = try await client.fetch(request, bodyLimit: 10)
        #expect(origin.requests.map(\.method) == ["POST", "GET", "POST", "POST"])
        #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", "", "content", "content"])
    }

    @Test("A redirect's own body is not waited for")
    func redirectBodyIsNotAwaited() async throws {
        let large = try ScriptedOrigin { request in
            request.target == "/end"
                ? [.response(body: [1])]
                : [
                    .text("HTTP/1.1 302 Found\r\nLocation: /end\r\n\r\n"),
                    .generate(count: 1 << 40) { _, count in .init(repeating: 0, count: count) },
                ]
        }
        #expect(try await client.fetch(ClientRequest(large), bodyLimit: 10).body == [1])
        let broken = try ScriptedOrigin { request in
            request.target == "/end"
                ? [.response(body: [2])]
                : [.text("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 100\r\n\r\nshort"), .close]
        }
        #expect(try await client.fetch(ClientRequest(broken), bodyLimit: 10).body == [2])
        let silent = try ScriptedOrigin { request in
            request.target == "/end"
                ? [.response(body: [3])]
                : [.text("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 100\r\n\r\nshort"), .stall]
        }
        var request = try ClientRequest(silent)
        request.lowSpeedLimit = (1, .milliseconds(80))
        #expect(try await client.fetch(request, bodyLimit: 10).body == [3])
    }

    @Test("A redirect without a target is the answer")
    func redirectWithoutTargetIsFinal() async throws {
        let origin = try ScriptedOrigin { _ in [.response(302, body: [9])] }
        let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(response.head.status == .found)
        #expect(response.body == [9])
    }
}
