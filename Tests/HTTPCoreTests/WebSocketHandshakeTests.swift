import HTTPCore
import Testing

@Suite struct WebSocketHandshakeTests {
    private nonisolated static let right = [
        ("Host", "x"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
    ]

    private func request(
        _ fields: [(String, String)], method: String = "GET", version: String = "1.1", body: String = ""
    ) throws -> RequestHead {
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        let text = "\(method) /jsonrpc HTTP/\(version)\r\n\(lines)\r\n\(body)"
        var parser = RequestParser(limits: ParserLimits())
        guard case .complete = parser.parse(Array(text.utf8).span) else { throw CancellationError() }
        var head = RequestHead()
        parser.exchangeHead(with: &head)
        return head
    }

    /// The right fields, with one of another value, missing or repeated.
    private func fields(_ name: String, _ values: String...) -> [(String, String)] {
        Self.right.filter { $0.0 != name } + values.map { (name, $0) }
    }

    @Test(
        "Accepts every form of a handshake in RFC 6455",
        arguments: [
            ("Upgrade", ["WebSocket"]), ("Upgrade", ["h2c, websocket"]), ("Upgrade", ["h2c", "WEBSOCKET"]),
            ("Connection", ["keep-alive, Upgrade"]), ("Connection", ["keep-alive", "upgrade"]), ("Connection", ["UPGRADE"]),
            ("Sec-WebSocket-Protocol", ["chat, superchat"]),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; client_max_window_bits"]),
            ("Content-Length", ["0"]),
        ])
    func aHandshakeMayBeWritten(name: String, values: [String]) throws {
        let fields = Self.right.filter { $0.0 != name } + values.map { (name, $0) }
        let head = try request(fields)
        #expect(WebSocketHandshake.isRequested(by: head))
        #expect(try WebSocketHandshake.key(in: head) == "dGhlIHNhbXBsZSBub25jZQ==")
    }

    private func failure(of head: RequestHead) -> WebSocketHandshake.Failure? {
        do throws(WebSocketHandshake.Failure) {
            _ = try WebSocketHandshake.key(in: head)
            return nil
        } catch {
            return error
        }
    }

    @Test("Names the fault of a handshake")
    func faultsAreNamed() throws {
        #expect(failure(of: try request(Self.right, method: "HEAD")) == .method(.head))
        #expect(failure(of: try request(Self.right, method: "POST")) == .method(.post))
        #expect(failure(of: try request(Self.right, version: "1.0")) == .protocolVersion(.http10))
        #expect(failure(of: try request(fields("Upgrade"), version: "1.0"))?.status == .upgradeRequired)
        #expect(failure(of: try request(Self.right + [("Content-Length", "1")])) == .body)
        #expect(failure(of: try request(Self.right + [("Transfer-Encoding", "chunked")])) == .body)
        for values in [[], ["h2c"], ["websockets"], ["web socket"]] {
            let head = try request(Self.right.filter { $0.0 != "Upgrade" } + values.map { ("Upgrade", $0) })
            #expect(failure(of: head) == .upgrade)
            // A proxy may have removed it.
            #expect(WebSocketHandshake.isRequested(by: head))
            #expect(!WebSocketHandshake.isRequested(by: try request([("Host", "x"), ("Connection", "upgrade")])))
        }
        #expect(failure(of: try request(fields("Connection"))) == .connection)
        #expect(failure(of: try request(fields("Connection", "keep-alive"))) == .connection)
        #expect(failure(of: try request(fields("Sec-WebSocket-Version"))) == .version(nil))
        #expect(failure(of: try request(fields("Sec-WebSocket-Version", "8"))) == .version("8"))
        #expect(failure(of: try request(fields("Sec-WebSocket-Version", "13, 8"))) == .version("13, 8"))
        #expect(failure(of: try request(fields("Sec-WebSocket-Version", "13", "13"))) == .version("13, 13"))
        let keys = [
            [], [""], ["dGhlIHNhbXBsZSBub25jZQ"], ["dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="],
            ["dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ=="], ["dGhlIHNhbXBsZSBub25j"], ["dGhlIHNhbXBsZSBub25jZQ!="],
            ["dGhlIHNhbXBsZSBub25jZWI="], ["dGhlIHNhbXBsZSBub25jZWJiYmI="], ["========================"],
        ]
        for values in keys {
            #expect(
                failure(
                    of: try request(Self.right.filter { $0.0 != "Sec-WebSocket-Key" } + values.map { ("Sec-WebSocket-Key", $0) }))
                    == .key)
        }
    }

    @Test("A failure is 400, or 426 with the supported version")
    func aFailureIsA400() {
        for failure in [WebSocketHandshake.Failure.version("8"), .upgrade, .connection, .protocolVersion(.http10)] {
            #expect(failure.status == .upgradeRequired)
            #expect(failure.detail.hasSuffix("."))
        }
        for failure in [WebSocketHandshake.Failure.method(.post), .body, .key] {
            #expect(failure.status == .badRequest)
            #expect(failure.detail.hasSuffix("."))
        }
    }
}
