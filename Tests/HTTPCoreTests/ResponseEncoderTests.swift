import Testing

@testable import HTTPCore

@Suite struct ResponseEncoderTests {
    func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        write(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Writes 100 Continue and Content-Length as whole lines")
    func continueAndContentLengthAreWholeLines() {
        #expect(text { ResponseEncoder.encodeContinue(into: &$0) } == "HTTP/1.1 100 Continue\r\n\r\n")
        for length: Int64 in [0, 9, 12, 16_384, 99_999_999, 100_000_000, .max] {
            #expect(text { ResponseEncoder.encodeContentLength(length, into: &$0) } == "Content-Length: \(length)\r\n")
        }
    }

    @Test(
        "Every code has a status line",
        arguments: [(-5, "100 Continue"), (200, "200 OK"), (299, "299 "), (999, "999 "), (5000, "999 ")])
    func everyCodeHasAStatusLine(code: Int, line: String) {
        #expect(text { ResponseEncoder.encodeStatusLine(HTTPStatus(code), into: &$0) } == "HTTP/1.1 \(line)\r\n")
    }

    @Test(
        "A chunk header is hexadecimal",
        arguments: [
            (1, "1"), (9, "9"), (10, "A"), (15, "F"), (16, "10"), (255, "FF"), (65_536, "10000"),
        ])
    func aChunkHeaderIsHexadecimal(length: Int, digits: String) {
        let data = [UInt8](repeating: 0x61, count: length)
        let chunk = text { ResponseEncoder.encodeChunk(data.span, into: &$0) }
        #expect(chunk == "\(digits)\r\n\(String(repeating: "a", count: length))\r\n")
    }

    @Test("Decoded chunks equal the encoded ones")
    func chunksSurviveARoundTrip() throws {
        let parts = ["a", "", "hello world, this is longer", "\r\n"]
        var bytes: [UInt8] = []
        for part in parts { ResponseEncoder.encodeChunk(Array(part.utf8).span, into: &bytes) }
        ResponseEncoder.encodeLastChunk(into: &bytes)
        var decoder = ChunkedDecoder()
        var body: [UInt8] = []
        let result = try decoder.decode(bytes.span, into: &body, maximum: 100)
        #expect(result.finished)
        #expect(result.consumed == bytes.count)
        #expect(String(decoding: body, as: UTF8.self) == parts.joined())
    }
}
