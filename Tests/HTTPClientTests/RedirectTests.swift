import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Redirects on real connections; ``RedirectPolicyTests`` tests the decisions.
@Suite(.timeLimit(.minutes(3)))
struct RedirectTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    @Test("Follows redirects within an origin", arguments: [301, 302, 303, 307, 308])
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
        #expect(sink.record.value.redirects.map(\.status.code) == [status])
        #expect(sink.record.value.redirects.map(\.url.string) == [origin.url("/a/b")])
        #expect(sink.record.value.bytes == Array("here".utf8))
        #expect(origin.requests.map { $0["X-Key"] } == ["k", "k"])
        #expect(origin.requests.map { $0["Range"] } == ["bytes=0-", "bytes=0-"])
        #expect(origin.requests.map { $0["If-Range"] } == ["\"v\"", "\"v\""])
    }

    @Test("Secrets do not cross origins and are not sent again; a user agent does")
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
            #expect(request["User-Agent"] == "mine")
        }
    }

    @Test(
        "A cookie of a redirect is sent to its host only, as in RFC 6265",
        arguments: [
            // The Cookie field at the target of the redirect.
            ("a=1", "a=1"), ("a=1; Path=/", "a=1"), ("a=1; Path=/dir", "a=1"), ("a=1; Path=/other", nil), ("a=1; Path=/di", nil),
            ("a=1; Secure", nil), ("a=1; Max-Age=0", nil), ("a=1; Max-Age=60; HttpOnly; SameSite=Strict", "a=1"),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT", nil), ("a=1; Domain=example.org", nil), ("__Host-a=1; Path=/", nil),
        ] as [(String, String?)])
    func cookiesOfRedirects(cookie: String, sent: String?) async throws {
        let other = try ScriptedOrigin { _ in [.response(body: [2])] }
        let origin = try ScriptedOrigin { request in
            request["Cookie"] != nil || request.number > 0
                ? [.redirect(to: "http://localhost:\(other.port)/dir/c")]
                : [.response(302, [("Location", "/dir/b"), ("Set-Cookie", cookie)])]
        }
        let response = try await client.fetch(ClientRequest(origin, "/dir/a"), bodyLimit: 10)
        #expect(response.body == [2])
        #expect(origin.requests.map { $0["Cookie"] } == [nil, sent])
        #expect(other.requests.map { $0["Cookie"] } == [nil])
    }

    @Test("A redirect to itself with a cookie ends, also with a range; the cookie ends with the transfer")
    func cookieForItself() async throws {
        let origin = try ScriptedOrigin { request in
            request["Cookie"]?.contains("ticket=t") == true
                ? [.response(206, [("Content-Range", "bytes 5-5/6")], body: [5])]
                : [.response(302, [("Location", request.target), ("Set-Cookie", "ticket=t; Path=/")])]
        }
        for _ in 0..<2 {
            var request = try ClientRequest(origin, "/f?x=1")
            request.range = "bytes=5-"
            request.fields = [("Cookie", "own=o"), ("cookie", "more=m")]
            #expect(try await client.fetch(request, bodyLimit: 10).body == [5])
        }
        let own = "own=o; more=m"
        #expect(origin.requests.map { $0["Cookie"] } == [own, "ticket=t; " + own, own, "ticket=t; " + own])
    }

    @Test("Keeps cookies of a host until the chain returns to it")
    func cookiesOfTwoHosts() async throws {
        let home = Waiter("")
        let other = try ScriptedOrigin { _ in
            [.response(302, [("Location", home.value), ("Set-Cookie", "b=2; Path=/")])]
        }
        let origin = try ScriptedOrigin { request in
            request.target == "/start"
                ? [.response(302, [("Location", "http://localhost:\(other.port)/x"), ("Set-Cookie", "a=1; Path=/")])]
                : [.response(body: [1])]
        }
        home.update { $0 = origin.url("/back") }
        #expect(try await client.fetch(ClientRequest(origin, "/start"), bodyLimit: 10).body == [1])
        #expect(other.requests.map { $0["Cookie"] } == [nil])
        #expect(origin.requests.map { $0["Cookie"] } == [nil, "a=1"])
    }

    @Test("Ends a redirect loop")
    func redirectLoopEnds() async throws {
        let origin = try ScriptedOrigin { _ in [.redirect(to: "/")] }
        await #expect(throws: ClientError.tooManyRedirects(status: 302)) {
            try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        }
        #expect(origin.requests.count == 21)
    }

    @Test("Refuses other schemes", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
    func otherSchemeIsNotFollowed(location: String) async throws {
        let origin = try ScriptedOrigin { _ in [.redirect(to: location)] }
        #expect(await client.failure(of: try ClientRequest(origin))?.kind == "unsupportedScheme")
    }

    @Test("A form becomes a GET, and a webhook stays a POST")
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

    @Test("Does not wait for the body of a redirect")
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
        // Without a limit that would end the wait.
        for rest in [
            "Content-Length: 100\r\n\r\n", "Content-Length: 100\r\n\r\nshort", "\r\n",
            "Transfer-Encoding: chunked\r\n\r\n5\r\nsh",
        ] {
            let silent = try ScriptedOrigin { request in
                request.target == "/end"
                    ? [.response(body: [3])] : [.text("HTTP/1.1 302 Found\r\nLocation: /end\r\n" + rest), .stall]
            }
            var request = try ClientRequest(silent)
            request.lowSpeedLimit = nil
            request.headTimeout = .seconds(3600)
            request.connectTimeout = .seconds(3600)
            #expect(try await client.fetch(request, bodyLimit: 10).body == [3])
        }
    }

    @Test("Percent-encodes the bytes of a Location one by one")
    func locationBytesAreEncoded() async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/"
                ? [
                    .send(
                        Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8) + [0xe9]
                            + Array(" \"a\".zip?x=".utf8) + [0xff] + Array("\r\n\r\n".utf8))
                ] : [.response()]
        }
        _ = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(origin.requests.map(\.target) == ["/", "/caf%E9%20%22a%22.zip?x=%FF"])
    }

    @Test("A redirect without a target is the response")
    func redirectWithoutTargetIsFinal() async throws {
        let origin = try ScriptedOrigin { _ in [.response(302, body: [9])] }
        let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(response.head.status == .found)
        #expect(response.body == [9])
    }
}
