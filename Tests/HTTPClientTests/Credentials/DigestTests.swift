import HTTPCore
import TestSupport
import Testing

@testable import HTTPClient

/// The Digest scheme: its answers, and when they are sent.
@Suite(.timeLimit(.minutes(3)))
struct DigestTests {
    /// The challenges of a response as the client reads them.
    static func challenge(_ values: String...) -> DigestChallenge? {
        var fields = Fields()
        for value in values { fields.append(.wwwAuthenticate, value) }
        return DigestChallenge.strongest(of: AuthenticationChallenge.all(in: fields))
    }

    // The example of RFC 7616 §3.9.1.
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let example =
        #"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#

    @Test(
        "Answers as the RFC's example does",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
            ("md5-sess", "e783283f46242139c486a698fec7211d"),
            ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ])
    func vectors(algorithm: String, response: String) throws {
        let challenge = try #require(Self.challenge("Digest \(Self.example), algorithm=\(algorithm)"))
        let answer = challenge.authorization(
            of: Login(user: "Mufasa", password: "Circle of Life"), method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: Self.clientNonce)
        #expect(
            answer
                == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
                + "uri=\"/dir/index.html\", response=\"\(response)\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", "
                + "algorithm=\(algorithm), qop=auth, nc=00000001, cnonce=\"\(Self.clientNonce)\"")
    }

    @Test("Answers an origin that counts no requests, and quotes a user name")
    func withoutQuality() throws {
        let challenge = try #require(
            Self.challenge(#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#))
        let answer = challenge.authorization(
            of: Login(user: "Mufasa", password: "Circle Of Life"), method: "GET", target: "/dir/index.html", count: 7,
            clientNonce: "unused")
        #expect(answer.hasSuffix("uri=\"/dir/index.html\", response=\"670fd8c2df070c60b045671b8b24ff02\""))
        let quoted = challenge.authorization(
            of: Login(user: "a\"b", password: ""), method: "GET", target: "/", count: 1, clientNonce: "")
        #expect(quoted.hasPrefix(#"Digest username="a\"b", "#))
    }

    @Test(
        "Chooses the strongest challenge that it can answer",
        arguments: [
            ([#"Digest realm="a", nonce="1""#, #"Digest realm="a", nonce="2", algorithm=SHA-256"#], "2"),
            ([#"Digest realm="a", nonce="1", algorithm=SHA-512-256, Digest realm="a", nonce="2", algorithm=MD5"#], "2"),
            ([#"Basic realm="a", Digest realm="a", nonce="1", qop="auth-int", Digest realm=b, nonce=3, qop=auth"#], "3"),
            ([#"Digest realm="a", nonce="1", qop="auth-int""#], nil), ([#"Digest realm="a""#], nil), (["Digest nonce=1"], nil),
            (["Basic realm=a"], nil), (["Bearer"], nil), ([], nil),
        ] as [([String], String?)])
    func choice(values: [String], nonce: String?) {
        var fields = Fields()
        for value in values { fields.append(.wwwAuthenticate, value) }
        #expect(DigestChallenge.strongest(of: AuthenticationChallenge.all(in: fields))?.nonce == nonce)
    }

    // MARK: - Exchanges

    private func client(_ netrc: String) throws -> HTTPClient {
        var configuration = ClientConfiguration()
        configuration.credentials.netrc = try NetrcFile(parsing: Array(netrc.utf8))
        return try HTTPClient(configuration: configuration)
    }

    private func request(_ origin: ScriptedOrigin, _ path: String = "/") throws -> ClientRequest {
        var request = try ClientRequest(origin, path)
        request.isForOrigin = true
        return request
    }

    private static func unauthorized(_ nonce: String, _ more: String = "") -> ScriptedOrigin.Step {
        .response(401, [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"\(more)")], body: [0])
    }

    /// The scheme, nonce and count of a request's credentials.
    private static func sent(_ request: ScriptedOrigin.Request) -> String {
        guard let value = request["Authorization"] else { return "none" }
        guard let challenge = challenge(value) else { return String(value.prefix { $0 != " " }) }
        let count = value.firstRange(of: "nc=").map { value[$0.upperBound...].prefix(8) } ?? ""
        return "Digest \(challenge.nonce) \(count)"
    }

    @Test("Sends Basic unasked; answers Digest without Basic, and counts the requests with a nonce")
    func exchange() async throws {
        let origin = try ScriptedOrigin { request in
            request["Authorization"]?.hasPrefix("Digest ") == true ? [.response(body: [1])] : [Self.unauthorized("n")]
        }
        let client = try client("machine 127.0.0.1 login ada password secret")
        for path in ["/a?b=c", "/d"] {
            #expect(try await client.fetch(request(origin, path), bodyLimit: 10).body == [1])
        }
        #expect(origin.requests.map(Self.sent) == ["Basic", "Digest n 00000001", "Digest n 00000002"])
        #expect(origin.requests.map(\.target) == ["/a?b=c", "/a?b=c", "/d"])
        #expect(origin.requests[1]["Authorization"]?.contains("uri=\"/a?b=c\"") == true)
    }

    @Test("The password of a URL or of a request's header answers Digest as well; another host's password does not")
    func callersLogin() async throws {
        let origin = try ScriptedOrigin { request in
            request["Authorization"]?.hasPrefix("Digest ") == true ? [.response(body: [1])] : [Self.unauthorized("n")]
        }
        let client = try client("machine other.example login ada password secret")
        var inURL = try request(origin)
        inURL.url = try url("http://ada:secret@127.0.0.1:\(origin.port)/")
        #expect(try await client.fetch(inURL, bodyLimit: 10).body == [1])
        var inField = try request(origin)
        inField.fields = [("Authorization", Login(user: "ada", password: "secret").authorization)]
        #expect(try await client.fetch(inField, bodyLimit: 10).body == [1])
        #expect(try await client.fetch(request(origin), bodyLimit: 10).head.status.code == 401)
        #expect(origin.requests.map(Self.sent) == ["Basic", "Digest n 00000001", "Digest n 00000002", "none"])
    }

    @Test("A stale nonce is replaced; a refused password ends in the response, without a loop")
    func staleAndRefused() async throws {
        let origin = try ScriptedOrigin { request in
            switch (request.target, Self.sent(request)) {
            case ("/good", "Basic"): [Self.unauthorized("one")]
            case ("/good", "Digest two 00000001"): [.response(body: [1])]
            case ("/good", _): [Self.unauthorized("two", ", stale=true")]
            case ("/refused", _): [Self.unauthorized("refused \(request.number)")]
            default: [Self.unauthorized("again \(request.number)", ", stale=TRUE")]
            }
        }
        let client = try client("default login ada password secret")
        #expect(try await client.fetch(request(origin, "/good"), bodyLimit: 10).body == [1])
        #expect(origin.requests.count == 3)
        // The kept nonce is old, so the origin gets one more answer.
        #expect(try await client.fetch(request(origin, "/refused"), bodyLimit: 10).head.status.code == 401)
        #expect(origin.requests.count == 5)
        #expect(try await client.fetch(request(origin, "/endless"), bodyLimit: 10).head.status.code == 401)
        #expect(origin.requests.count == 8)
    }

    @Test("Returns to Basic where an origin asks for Digest no more")
    func back() async throws {
        let asksDigest = Waiter(true)
        let origin = try ScriptedOrigin { request in
            let scheme = asksDigest.value ? "Digest " : "Basic "
            if request["Authorization"]?.hasPrefix(scheme) == true { return [.response(body: [1])] }
            return asksDigest.value ? [Self.unauthorized("n")] : [.response(401, [("WWW-Authenticate", "Basic realm=x")])]
        }
        let client = try client("default login ada password secret")
        #expect(try await client.fetch(request(origin), bodyLimit: 10).body == [1])
        asksDigest.update { $0 = false }
        // A listener could forge the response to get the password, so the same exchange has no Basic.
        #expect(try await client.fetch(request(origin), bodyLimit: 10).head.status.code == 401)
        for _ in 0..<2 { #expect(try await client.fetch(request(origin), bodyLimit: 10).body == [1]) }
        #expect(origin.requests.map(Self.sent) == ["Basic", "Digest n 00000001", "Digest n 00000002", "Basic", "Basic"])
    }

    @Test(
        "A refusal without a usable challenge gets no password by Basic, then or later",
        arguments: [[], [#"Digest realm="r", nonce="n2", algorithm=SHA-512-256"#]])
    func downgrade(challenges: [String]) async throws {
        let isForged = Waiter(false)
        let origin = try ScriptedOrigin { request in
            if isForged.value { return [.response(401, challenges.map { ("WWW-Authenticate", $0) })] }
            let isAnswered = request["Authorization"]?.hasPrefix("Digest ") == true
            return isAnswered ? [.response(body: [1])] : [Self.unauthorized("n")]
        }
        let client = try client("default login ada password secret")
        #expect(try await client.fetch(request(origin), bodyLimit: 10).body == [1])
        isForged.update { $0 = true }
        for _ in 0..<2 { #expect(try await client.fetch(request(origin), bodyLimit: 10).head.status.code == 401) }
        isForged.update { $0 = false }
        #expect(try await client.fetch(request(origin), bodyLimit: 10).body == [1])
        let sent = origin.requests.map(Self.sent).dropFirst()
        #expect(sent.count == 4 && sent.allSatisfy { $0.hasPrefix("Digest ") }, "\(sent)")
    }

    @Test("A challenge with the same nonce, and another realm or algorithm, is answered")
    func sameNonce() async throws {
        let challenge = Waiter(#"Digest realm="a", nonce="n", qop="auth""#)
        let origin = try ScriptedOrigin { request in
            let parts = challenge.value.split(separator: " ").dropFirst().map { $0.filter { $0 != "," } }
            let expected = parts.filter { $0.hasPrefix("realm") || $0.hasPrefix("algorithm") }
            let answer = request["Authorization"] ?? ""
            let isRight = answer.hasPrefix("Digest ") && expected.allSatisfy { answer.contains($0) }
            return isRight ? [.response(body: [1])] : [.response(401, [("WWW-Authenticate", challenge.value)])]
        }
        let client = try client("default login ada password secret")
        for value in [
            #"Digest realm="a", nonce="n", qop="auth""#, #"Digest realm="b", nonce="n", qop="auth""#,
            #"Digest realm="b", nonce="n", qop="auth", algorithm=SHA-256"#,
        ] {
            challenge.update { $0 = value }
            for _ in 0..<2 { #expect(try await client.fetch(request(origin), bodyLimit: 10).body == [1]) }
        }
    }

    @Test("An answer has the method, range and content of the request, and the cookies of the challenge")
    func content() async throws {
        let origin = try ScriptedOrigin { request in
            request["Authorization"]?.hasPrefix("Digest ") == true
                ? [.response(body: [1])]
                : [
                    .response(
                        401, [("WWW-Authenticate", "Digest realm=r, nonce=n, qop=auth"), ("Set-Cookie", "s=1")])
                ]
        }
        let client = try client("default login ada password secret")
        var request = try request(origin)
        request.method = "POST"
        request.body = .bytes(Array("content".utf8))
        request.range = "bytes=0-"
        request.maximumRedirects = 0
        #expect(try await client.fetch(request, bodyLimit: 10).body == [1])
        #expect(origin.requests.map(\.method) == ["POST", "POST"])
        #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", "content"])
        #expect(origin.requests.map { $0["Range"] } == ["bytes=0-", "bytes=0-"])
        #expect(origin.requests.map { $0["Cookie"] } == [nil, "s=1"])
    }
}
