import HTTPCore
import HTTPServer
import TestSupport
import Testing

/// Requests byte by byte as they arrive over the network, and the responses: RFC 9112, RFC 9110.
@Suite(.timeLimit(.minutes(3))) @OffPool struct WireTests {
    /// The connection after the responses.
    enum End { case kept, closed }

    private nonisolated static let host = "\r\nHost: x\r\n"

    /// Requests, the statuses of the responses in order, and whether the connection is still usable.
    nonisolated static let exchanges: [(String, [Int], End)] = [
        // §3.2 targets
        ("GET /a?b HTTP/1.1\(host)\r\n", [200], .kept), ("GET http://y/a HTTP/1.1\(host)\r\n", [200], .kept),
        ("OPTIONS * HTTP/1.1\(host)\r\n", [200], .kept), ("OPTIONS http://y HTTP/1.1\(host)\r\n", [200], .kept),
        ("GET * HTTP/1.1\(host)\r\n", [400], .closed), ("GET y:80 HTTP/1.1\(host)\r\n", [400], .closed),
        ("CONNECT y:80 HTTP/1.1\(host)\r\n", [501], .closed), ("GET https://y/ HTTP/1.1\(host)\r\n", [421], .closed),
        ("GET http://u@y/ HTTP/1.1\(host)\r\n", [400], .closed), ("GET /a#b HTTP/1.1\(host)\r\n", [400], .closed),
        // §2.3 versions
        ("GET / HTTP/1.9\(host)\r\n", [200], .kept), ("GET / HTTP/1.0\r\n\r\n", [200], .closed),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [200], .kept), ("GET / HTTP/2.0\(host)\r\n", [505], .closed),
        ("GET / HTTP/0.9\r\n\r\n", [505], .closed), ("GET /\r\n\r\n", [400], .closed),
        ("GET / http/1.1\(host)\r\n", [400], .closed),
        // §2.2 lines
        ("\r\nGET / HTTP/1.1\(host)\r\n", [200], .kept), ("\nGET / HTTP/1.1\(host)\r\n", [400], .closed),
        ("GET / HTTP/1.1\nHost: x\n\n", [400], .closed), ("GET / HTTP/1.1\(host)A: b\rC: d\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\(host)A: b\u{0}\r\n\r\n", [400], .closed), ("GET  / HTTP/1.1\(host)\r\n", [400], .closed),
        ("GET / HTTP/1.1 \(host)\r\n", [400], .closed), ("GET\t/ HTTP/1.1\(host)\r\n", [400], .closed),
        // §5 fields
        ("GET / HTTP/1.1\(host)A : b\r\n\r\n", [400], .closed), ("GET / HTTP/1.1\(host)A: b\r\n c\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\r\n A: b\(host)\r\n", [400], .closed), ("GET / HTTP/1.1\(host)A\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\(host): b\r\n\r\n", [400], .closed), ("GET / HTTP/1.1\(host)A(: b\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\(host)A:\r\n\r\n", [200], .kept), ("GET / HTTP/1.1\(host)!#$%&'*+-.^_`|~: \u{e9}\r\n\r\n", [200], .kept),
        // §3.2 Host
        ("GET / HTTP/1.1\r\n\r\n", [400], .closed), ("GET / HTTP/1.1\(host)Host: x\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", [400], .closed), ("GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", [400], .closed),
        ("GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", [400], .closed), ("GET http://y/ HTTP/1.1\r\n\r\n", [400], .closed),
        // §6 framing: bytes behind a refusal are never read as a request
        ("POST / HTTP/1.1\(host)Content-Length: 3\r\n\r\nabc", [200], .kept),
        ("POST / HTTP/1.1\(host)Content-Length: 3\r\n\r\nabc\r\n", [200], .kept),
        ("GET / HTTP/1.1\(host)Content-Length: 3\r\n\r\nabc", [200], .kept),
        ("POST / HTTP/1.1\(host)Content-Length: 3, 3\r\n\r\nabcGET / HTTP/1.1\(host)\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Content-Length: 3\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\(host)\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Content-Length: +3\r\n\r\nabc", [400], .closed),
        ("POST / HTTP/1.1\(host)Content-Length: 18446744073709551619\r\n\r\nabc", [400], .closed),
        (
            "POST / HTTP/1.1\(host)Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\(host)\r\n",
            [400], .closed
        ),
        ("POST / HTTP/1.0\(host)Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: gzip\r\n\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [501], .closed),
        // §7.1 chunks
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0\r\nT: v\r\n\r\n", [200], .kept),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", [400], .closed),
        ("POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n0\r\nT v\r\n\r\n", [400], .closed),
        (
            "POST / HTTP/1.1\(host)Transfer-Encoding: chunked\r\n\r\n0\r\nT: \(String(repeating: "v", count: 17_000))\r\n\r\n",
            [431], .closed
        ),
        // RFC 9110 §10.1.1
        ("POST / HTTP/1.1\(host)Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", [200], .kept),
        ("POST / HTTP/1.1\(host)Expect: 100-continue\r\n\r\n", [200], .kept),
        ("POST / HTTP/1.1\(host)Expect: x\r\nContent-Length: 3\r\n\r\nabc", [417], .closed),
        ("POST / HTTP/1.0\(host)Expect: x\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc", [200], .kept),
        // §9.3 persistence and pipelining
        ("GET / HTTP/1.1\(host)Connection: close\r\n\r\nGET / HTTP/1.1\(host)\r\n", [200], .closed),
        ("GET / HTTP/1.0\(host)Connection: keep-alive, close\r\n\r\n", [200], .closed),
        (
            "GET / HTTP/1.1\(host)\r\nPOST / HTTP/1.1\(host)Content-Length: 1\r\n\r\naPUT / HTTP/1.0\(host)\r\n",
            [200, 200, 200], .closed
        ),
        ("GET / HTTP/1.1\(host)\r\nGET /\r\n\r\nGET / HTTP/1.1\(host)\r\n", [200, 400], .closed),
    ]

    @Test("Responses match the specification byte by byte", arguments: exchanges)
    func requestsAreAnsweredByThe(bytes: String, statuses: [Int], end: End) async throws {
        try await withServer(echo) { port in
            let client = try TestConnection(port)
            try client.send(bytes)
            for status in statuses {
                let response = try client.readResponse()
                #expect(response.status == status)
                #expect(response["Date"].flatMap { HTTPDate(parsing: $0) } != nil)
                if status >= 400 { #expect(response["Connection"] == "close") }
            }
            if end == .kept {
                #expect(try client.get("/last").text == "GET /last 0 ")
            } else {
                client.endOutput()
                #expect(try client.takeRest().isEmpty)
            }
        }
    }

    @Test(
        "An application receives the host of an absolute form only",
        arguments: [
            ("GET http://Y.example:81/a HTTP/1.1\r\nHost: x\r\n\r\n", "Y.example:81"), ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "x"),
            ("OPTIONS http://y HTTP/1.1\r\nHost: x\r\n\r\n", "y"),
        ])
    func anApplicationSeesTheHost(request: String, host: String) async throws {
        try await withServer { request, response in
            response.body = Array(request.head.fields.values(.host).joined(separator: "|").utf8)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            try client.send(request)
            #expect(try client.readResponse().text == host)
        }
    }

    @Test("Trailers are never among the fields")
    func trailersAreNeverAmongThe() async throws {
        try await withServer { request, response in
            for field in request.head.fields { response.body += field.nameBytes + [0x20] }
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            try client.send(
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n1\r\na\r\n0\r\nA: b\r\nHost: y\r\n\r\n"
            )
            #expect(try client.readResponse().text == "Host Transfer-Encoding Trailer ")
        }
    }
}
