import FuzzProperties
import TestSupport
import Testing

@testable import HTTPCore

/// The result must depend on the bytes only, not on their division by the network.
@Suite @OffPool struct SplitInvarianceTests {
    nonisolated static let streams: [String] = [
        "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nAccept: text/html, */*;q=0.1\r\nX-Long: \(String(repeating: "v", count: 80))\r\n\r\n",
        "\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n",
        "GET http://a.example:81?q HTTP/1.1\r\nHost: b\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5;n=\"v\\\"\";m\r\nhello\r\nA ; x = y\r\n0123456789\r\n000\r\nT: x\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nX: a\r\n\r\n", "GET / HTTP/1.1\rHost: a\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nBad trailer\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "METHODMETHODMETHODMETHODMETHODMETHOD / HTTP/1.1\r\n\r\n", "GET /\(String(repeating: "a", count: 150)) HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 12))\r\n", "GET /\u{e9} HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: 600))\r\n\r\n",
    ]

    /// Limits that the streams above reach.
    static var limits: ParserLimits {
        var limits = ParserLimits()
        limits.head = 512
        limits.fields = 10
        limits.target = 100
        limits.chunkLine = 24
        limits.trailers = 32
        return limits
    }

    @Test("Every division into two pieces has the same result", arguments: streams)
    func everySplitIntoTwoReadsTheSame(stream: String) {
        let bytes = Array(stream.utf8)
        let whole = MessageReading(bytes, cuts: [], limits: Self.limits)
        #expect(!whole.messages.isEmpty || whole.error != nil)
        for cut in 0...bytes.count {
            #expect(MessageReading(bytes, cuts: [cut], limits: Self.limits) == whole, "cut at \(cut)")
        }
    }

    @Test("Byte by byte has the same result", arguments: streams)
    func byteByByteReadsTheSame(stream: String) {
        let bytes = Array(stream.utf8)
        let whole = MessageReading(bytes, cuts: [], limits: Self.limits)
        #expect(MessageReading(bytes, cuts: Array(0..<bytes.count), limits: Self.limits) == whole)
    }

    @Test("Mutated streams have the same result in every division", arguments: 0..<16 as Range<UInt64>)
    func mutatedStreamsAreReadOrRefusedTheSameHoweverTheyAreCut(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet: [UInt8] =
            Array("\r\n\r\n\r\n\t  ::;;,,\"\\/*?#%09afAFxX=-+GET HTTP/1.1".utf8) + [0, 1, 0x0B, 0x7F, 0x80, 0xFF]
        var refused = 0
        for _ in 0..<250 {
            var bytes = Array((Self.streams.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0...bytes.count, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes.insert(byte, at: index)
                case 1 where index < bytes.count: bytes[index] = byte
                case 2 where index < bytes.count: bytes.remove(at: index)
                case 3: bytes = Array(bytes[..<index]) + bytes[(index / 2)...]
                default: if index < bytes.count { bytes.swapAt(index, bytes.count - 1 - index) }
                }
            }
            let whole = MessageReading(bytes, cuts: [], limits: Self.limits)
            if whole.error != nil { refused += 1 }
            let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
            #expect(MessageReading(bytes, cuts: cuts, limits: Self.limits) == whole, "seed \(seed): \(bytes) cut at \(cuts)")
            #expect(MessageReading(bytes, cuts: Array(0..<bytes.count), limits: Self.limits) == whole, "seed \(seed): \(bytes)")
        }
        #expect(refused > 0)
    }
}
