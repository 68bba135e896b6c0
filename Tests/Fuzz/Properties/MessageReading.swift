public import HTTPCore

/// The reading of a whole stream of requests, for comparison with another reading.
public struct MessageReading: Equatable, Sendable {
    /// A line for each head, with its body if it is chunked. Other bodies are read as the next request.
    public private(set) var messages: [String] = []
    /// The reason why the remaining bytes are refused.
    public private(set) var error: RequestError?

    /// Reads `bytes` in pieces that end at `cuts`, and calls `visit` with each head and its bytes.
    public init(
        _ bytes: [UInt8], cuts: [Int], limits: ParserLimits = ParserLimits(), bodyLimit: Int = 1000,
        visit: (RequestHead, [UInt8]) -> Void = { _, _ in }
    ) {
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
                    let head = parser.head
                    visit(head, Array(buffer.prefix(consumed)))
                    buffer.removeFirst(consumed)
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
