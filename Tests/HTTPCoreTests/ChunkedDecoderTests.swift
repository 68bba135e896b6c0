import Testing

@testable import HTTPCore

@Suite struct ChunkedDecoderTests {
    func decode(_ text: String, maximum: Int = 1000, limits: ParserLimits = ParserLimits()) throws(RequestError) -> (
        body: String, consumed: Int, finished: Bool
    ) {
        var decoder = ChunkedDecoder(limits: limits)
        var body: [UInt8] = []
        let (consumed, finished) = try decoder.decode(Array(text.utf8).span, into: &body, maximum: maximum)
        return (String(decoding: body, as: UTF8.self), consumed, finished)
    }

    static let bodies: [(String, String)] = [
        ("0\r\n\r\n", ""), ("000000000000000000000\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"), ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("0005\r\nhello\r\n0\r\n\r\n", "hello"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"), ("5;a\r\nhello\r\n0;b\r\n\r\n", "hello"), ("5;a=b\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5;a=\"b;\\\"c\";d\r\nhello\r\n0\r\n\r\n", "hello"), ("5 ; a = b ; c\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\t;\ta\t=\tb\r\nhello\r\n0\r\n\r\n", "hello"), ("5;a=\"\u{e9}\"\r\nhello\r\n0\r\n\r\n", "hello"),
        ("0\r\nT: v\r\n\r\n", ""), ("0\r\nT: v\r\nContent-Length: 7\r\nU:\r\n\r\n", ""),
        ("5;a=\"\" ;b\r\nhello\r\n0\r\n\r\n", "hello"),
    ]

    @Test("Decodes a body to its end", arguments: bodies)
    func aBodyIsDecodedToItsEnd(text: String, body: String) throws {
        let result = try decode(text + "GET")
        #expect(result.body == body)
        #expect(result.consumed == text.utf8.count)
        #expect(result.finished)
    }

    static let broken: [String] = [
        "\r\n", "g\r\n", "-5\r\n", "+5\r\n", "0x5\r\n", " 5\r\n", "5 \r\n", "5\t\r\n", "5 5\r\n", "5,\r\n", "5.\r\n", ";a\r\n",
        "_5\r\n",
        "5\nhello\r\n", "5\rhello\r\n", "5\r\rhello", "5\r\nhello0\r\n", "5\r\nhello\n0\r\n", "5\r\nhello\rX",
        "5\r\nhell\r\n0\r\n\r\n",
        "5\r\nhello!\r\n", "8000000000000000\r\n", "FFFFFFFFFFFFFFFF\r\n", "10000000000000005\r\n", "FFFFFFFFFFFFFFFFFFFFFFFF",
        "5;\r\nhello", "5;;a\r\n", "5;a=\r\n", "5;a b\r\n", "5;a=b c\r\n", "5;=b\r\n", "5;a=\"b\r\n", "5;a=\"b\\\r\n",
        "5;a\nb\r\n", "5;a=b\n",
        "5;a\rX\r\n", "5;a=\"\n\"\r\n", "5;a=\"\u{0}\"\r\n", "5;a\u{0}\r\n", "5;a=\u{e9}\r\n", "5;a=\"b\"c\r\n", "5;a \r\n",
        "5;a=b \r\n",
        "0\r\n\n", "0\r\n\rX", "0\r\nT\r\n", "0\r\nT : v\r\n", "0\r\n: v\r\n", "0\r\nT: v\n", "0\r\nT: v\rX", "0\r\nT: \u{0}\r\n",
        "0\r\nT: v\r\n folded\r\n", "0\r\n T: v\r\n", "0\r\nGET / HTTP/1.1\r\n", "0\n", "0\rX",
    ]

    @Test("Refuses broken chunks", arguments: broken)
    func brokenChunksAreRefused(text: String) {
        #expect(throws: RequestError.self) { try self.decode(text) }
        let status = #expect(throws: RequestError.self) { try self.decode(text) }?.status
        #expect(status == .badRequest)
    }

    @Test(
        "A body that stops midway is not finished",
        arguments: [
            "", "5", "5\r", "5\r\n", "5\r\nhel", "5\r\nhello", "5\r\nhello\r", "5\r\nhello\r\n", "0\r\n", "0\r\n\r", "0\r\nT:",
        ])
    func aBodyThatStopsMidwayIsNotFinished(text: String) throws {
        let result = try decode(text)
        #expect(!result.finished)
        #expect(result.consumed == text.utf8.count)
    }

    @Test("Refuses a chunk over the limit at its size")
    func aChunkOverTheLimitIsRefusedAtItsSize() throws {
        #expect(try decode("5\r\nhello\r\n0\r\n\r\n", maximum: 5).finished)
        #expect(throws: RequestError.contentTooLarge(limit: 4)) { try self.decode("5\r\n", maximum: 4) }
        #expect(throws: RequestError.contentTooLarge(limit: 7)) { try self.decode("5\r\nhello\r\n3\r\n", maximum: 7) }
        #expect(throws: RequestError.contentTooLarge(limit: 1000)) { try self.decode("7FFFFFFFFFFFFFFF\r\n") }
        #expect(throws: RequestError.contentTooLarge(limit: -1)) { try self.decode("1\r\n", maximum: -1) }
        #expect(RequestError.contentTooLarge(limit: 4).status == .contentTooLarge)
    }

    @Test("The limit counts all calls, even if the body is taken in between")
    func theLimitCountsAllCallsAlsoWhenTheBodyIsTakenAwayInBetween() throws {
        var decoder = ChunkedDecoder()
        var body: [UInt8] = []
        _ = try decoder.decode(Array("5\r\nhello\r\n".utf8).span, into: &body, maximum: 8)
        body.removeAll()
        #expect(throws: RequestError.contentTooLarge(limit: 8)) {
            _ = try decoder.decode(Array("4\r\n".utf8).span, into: &body, maximum: 8)
        }
        #expect(throws: RequestError.contentTooLarge(limit: 8)) {
            _ = try decoder.decode(Array("abcd\r\n".utf8).span, into: &body, maximum: 8)
        }
    }

    @Test("Limits lines, extensions and trailers")
    func linesExtensionsAndTrailersAreBounded() {
        var limits = ParserLimits()
        limits.fields = 3
        limits.trailers = 100
        limits.chunkLine = 50
        limits.chunkExtensions = 200
        #expect(throws: RequestError.self) { try self.decode(String(repeating: "0", count: 51), limits: limits) }
        #expect(throws: RequestError.self) { try self.decode("5;" + String(repeating: "a", count: 50), limits: limits) }
        #expect(throws: RequestError.self) {
            try self.decode(String(repeating: "1;aaaaaaaaaa\r\nx\r\n", count: 30), limits: limits)
        }
        #expect(throws: RequestError.trailersTooLarge(limit: 100)) {
            try self.decode("0\r\nT: " + String(repeating: "a", count: 100), limits: limits)
        }
        #expect(throws: RequestError.trailersTooLarge(limit: 100)) {
            try self.decode("0\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n", limits: limits)
        }
        #expect(RequestError.trailersTooLarge(limit: 100).status == .requestHeaderFieldsTooLarge)
    }
}
