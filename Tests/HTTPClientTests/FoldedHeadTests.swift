import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// Heads with a folded first field line after other responses. Before 8.1.0, libcurl corrupts its memory if a handle is
/// reused (curl issue 11101).
@Suite(.timeLimit(.minutes(3)))
struct FoldedHeadTests {
    static let folded = "HTTP/1.1 200 OK\r\n X: y\r\n\tZ: w\r\nContent-Length: 2\r\n\r\nok"

    @Test(
        "A folded first field line does not affect a reused connection",
        arguments: [
            ["/": "HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n", "/end": folded],
            ["/": "HTTP/1.1 302 Found\r\nLocation: /end\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "/end": folded],
            ["/": "HTTP/1.1 302 Found\r\n X: y\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n", "/end": folded],
            ["/": "HTTP/1.1 103 Early Hints\r\n X: y\r\n\r\n" + folded],
            ["/": "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + folded],
            ["/": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n X: y\r\nA: b\r\n c\r\n\r\n"],
            ["/": folded],
        ])
    func foldedFirstLineIsHarmless(responses: [String: String]) async throws {
        let origin = try ScriptedOrigin { request in [.text(responses[request.target] ?? "")] }
        let other = try ScriptedOrigin { _ in
            [.response(200, [("ETag", "\"v\""), ("X-Long", String(repeating: "x", count: 200))])]
        }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        let client = try HTTPClient(configuration: configuration)
        for _ in 0..<50 {
            _ = try await client.fetch(ClientRequest(other), bodyLimit: 10)
            var request = try ClientRequest(origin)
            request.totalTimeout = .seconds(20)
            // libcurl may refuse or read such a head.
            _ = await client.failure(of: request)
        }
    }
}
