import Testing

@testable import HTTPCore

/// The head those bytes are, all of them.
func head(bytes: [UInt8]) throws -> RequestHead {
    var parser = RequestParser()
    let progress = parser.parse(bytes.span)
    try #require(progress == .complete(consumed: bytes.count))
    return parser.head
}

/// The head that text is, all of it.
func head(_ text: String) throws -> RequestHead {
    try head(bytes: Array(text.utf8))
}

/// Why those bytes are refused; nil if they aren't.
func failure(_ bytes: [UInt8]) -> RequestError? {
    var parser = RequestParser()
    guard case .failed(let error) = parser.parse(bytes.span) else { return nil }
    return error
}

/// Why that text is refused; nil if it isn't.
func failure(_ text: String) -> RequestError? {
    failure(Array(text.utf8))
}

/// What a whole stream of requests is read as, so that two readings can be compared.
struct Reading: Equatable {
    /// A line for each head, and the body behind it.
    var messages: [String] = []
    var error: RequestError?

    /// Reads `bytes` as they come in pieces that end at `cuts`.
    init(_ bytes: [UInt8], cuts: [Int], limits: ParserLimits = ParserLimits(), bodyLimit: Int = 1000) {
        var parser = RequestParser(limits: limits)
        var decoder: ChunkedDecoder?
        var buffer: [UInt8] = []
        var body: [UInt8] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            buffer += bytes[start..<cut]
            start = cut
            do throws(RequestError) {
                while true {
                    if var chunks = decoder {
                        let (consumed, finished) = try chunks.decode(buffer.span, into: &body, maximum: bodyLimit)
                        buffer.removeFirst(consumed)
                        decoder = finished ? nil : chunks
                        guard finished else { break }
                        messages.append("body \(body)")
                    }
                    let progress = parser.parse(buffer.span)
                    if case .failed(let error) = progress { throw error }
                    guard case .complete(let consumed) = progress else { break }
                    buffer.removeFirst(consumed)
                    let head = parser.head
                    messages.append(
                        "\(head.method) \(head.target) \(head.version) \(head.fields) \(head.framing) \(head.keepsAlive) \(head.expectsContinue)"
                    )
                    if head.framing == .chunked {
                        body = []
                        decoder = ChunkedDecoder(limits: limits)
                    }
                }
            } catch {
                self.error = error
                return
            }
        }
    }
}

/// Numbers that are the same on every run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
