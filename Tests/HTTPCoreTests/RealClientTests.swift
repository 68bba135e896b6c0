import Testing

@testable import HTTPCore

/// Strictness must not exclude real clients: heads as they are sent.
@Suite struct RealClientTests {
    static let heads: [(String, [String], fields: Int)] = [
        ("curl", ["GET /search?term=jack+johnson HTTP/1.1", "Host: 127.0.0.1:8080", "User-Agent: curl/8.5.0", "Accept: */*"], 3),
        (
            "curl sending a large body",
            [
                "POST /downloads HTTP/1.1", "Host: [::1]:8080", "User-Agent: curl/8.5.0", "Accept: */*",
                "Content-Type: application/json",
                "Content-Length: 1048577", "Expect: 100-continue",
            ], 6
        ),
        (
            "Chrome",
            [
                "GET /search?term=[live]|%22x%22&q={a}^`b` HTTP/1.1", "Host: localhost:8080", "Connection: keep-alive",
                "sec-ch-ua: \"Chromium\";v=\"130\", \"Google Chrome\";v=\"130\", \"Not?A_Brand\";v=\"99\"",
                "sec-ch-ua-mobile: ?0",
                "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
                "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Accept-Encoding: gzip, deflate, br, zstd",
                "Cookie: a=b; c=\"d\"; e=%7B%7D", "If-None-Match: W/\"abc\"",
            ], 9
        ),
        (
            "an EventSource that comes back",
            [
                "GET /downloads/events HTTP/1.1", "Host: localhost:8080", "Accept: text/event-stream", "Cache-Control: no-cache",
                "Last-Event-ID: 1795252567-42", "Origin: http://localhost:8080",
            ], 5
        ),
        (
            "an audio element that seeks",
            ["GET /media/1.wav HTTP/1.1", "Host: a", "Range: bytes=0-", "Accept-Encoding: identity;q=1, *;q=0"], 3
        ),
        (
            "ab",
            [
                "GET /healthz HTTP/1.0", "Connection: Keep-Alive", "Host: 127.0.0.1:8080", "User-Agent: ApacheBench/2.3",
                "Accept: */*",
            ], 4
        ),
        ("a health check by hand", ["GET /healthz HTTP/1.0"], 0),
        (
            "a proxy in front",
            [
                "GET /stats HTTP/1.1", "Host: pawl.example", "X-Forwarded-For: 10.0.0.1, 10.0.0.2", "Via: 1.1 vegur",
                "Connection: close",
            ], 4
        ),
        (
            "a client behind a forward proxy",
            ["GET http://pawl.example:8080/stats HTTP/1.1", "Host: pawl.example:8080", "Proxy-Connection: keep-alive"], 2
        ),
        (
            "a chunked upload",
            [
                "PATCH /settings HTTP/1.1", "host: a", "transfer-encoding: chunked", "content-type: application/json",
                "te: trailers",
            ], 4
        ),
        (
            "an upgrade nobody asked for",
            [
                "GET / HTTP/1.1", "Host: a", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
                "HTTP2-Settings: AAMAAABkAAQAAP__",
            ], 4
        ),
    ]

    @Test("Reads the heads of real clients", arguments: heads)
    func theirHeadsAreRead(client: String, lines: [String], fields: Int) throws {
        let text = (lines + ["", ""]).joined(separator: "\r\n")
        #expect(try head(text).fields.count == fields, "\(client)")
    }

    /// The first bytes of another protocol are refused, without a timeout.
    @Test(
        "Refuses other protocols at once",
        arguments: [
            [0x16, 0x03, 0x01, 0x02, 0x00], [0x05, 0x01, 0x00], [0x00], [0x04, 0x01, 0x00, 0x50], [0x0D, 0x0A, 0x0D, 0x0A, 0x00],
            Array("\u{0}\u{0}".utf8),
            Array("SSH-2.0-OpenSSH_9.6 \r\n".utf8) + [0x0D], [0x80, 0x2E],
        ] as [[UInt8]])
    func otherProtocolsAreRefusedAtOnce(bytes: [UInt8]) {
        #expect(failure(bytes)?.status == .badRequest)
    }
}
