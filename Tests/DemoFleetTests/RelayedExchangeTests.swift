import Testing

@testable import DemoFleet

/// Bytes of one side.
private enum Passed: Sendable {
    case client(String)
    case replica(String)
}

@Suite("An exchange that the balancer follows", .timeLimit(.minutes(1)))
struct RelayedExchangeTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let post = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    /// Bytes that have passed, and the request that another replica can be sent; `nil`: none.
    private static let table: [(steps: [Passed], request: String?)] = [
        ([], ""),
        ([.client(get)], get),
        ([.client("GET /a HT"), .client("TP/1.1\r\nHost: a\r\n")], "GET /a HTTP/1.1\r\nHost: a\r\n"),
        ([.client("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")], "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n"),
        ([.client(post)], nil),
        ([.client(post), .client("hi")], nil),
        ([.client("DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n")], nil),
        ([.client("GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")], nil),
        ([.client("GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")], nil),
        ([.client("nonsense\r\n\r\n")], nil),
        // Some of the answer has been passed on.
        ([.client(get), .replica("H")], nil),
        ([.client(get), .replica("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh")], nil),
        // The connection is idle.
        ([.client(get), .replica(ok)], nil),
        // The next request.
        ([.client(get), .replica(ok), .client(get)], get),
        ([.client(post), .client("hi"), .replica(ok), .client(get)], get),
        ([.client(get), .replica("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), .client(get)], get),
        (
            [
                .client("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n"), .replica("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
                .client(get),
            ], get
        ),
        (
            [
                .client(get), .replica("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nh"), .replica("i\r\n0\r\n\r\n"),
                .client(get),
            ], get
        ),
        ([.client(get), .replica("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), .client(get)], get),
        // Before the answer is whole, the next request may be answered within it.
        ([.client(get), .replica("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), .client(get)], nil),
        ([.client(get), .replica("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), .client(get)], nil),
        ([.client(get), .replica("HTTP/1.1 200 OK\r\n\r\nhi"), .client(get)], nil),
        ([.client(get), .replica("HTTP/1.1 101 Switching Protocols\r\n\r\n"), .client(get)], nil),
        ([.client(get + get)], nil), ([.client(get), .client(get)], nil),
        ([.client(get), .replica(ok + ok), .client(get)], nil),
        ([.replica("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")], nil),
    ]

    @Test("another replica can be sent a GET or HEAD of whose answer nothing has come", arguments: 0..<27)
    func follows(_ number: Int) {
        let (steps, expected) = Self.table[number]
        var exchange = RelayedExchange()
        for step in steps {
            switch step {
            case .client(let text): exchange.noteRequest(Array(text.utf8))
            case .replica(let text): exchange.noteAnswer(Array(text.utf8))
            }
        }
        #expect(exchange.isRepeatable == (expected != nil))
        if let expected { #expect(String(decoding: exchange.request, as: UTF8.self) == expected) }
    }
}
