/// Reads a chunked body from bytes as they come: RFC 9112 §7.1.
///
/// Extensions are checked and ignored, trailers are checked and dropped; neither ever reaches the fields of the request.
/// Holds no bytes itself: everything it consumes is decoded, and where it stands is a few numbers.
public struct ChunkedDecoder: Sendable {
    /// What the next byte belongs to.
    enum Phase: Sendable {
        case size, sizeLineFeed
        /// White space behind a size or an extension, which only a semicolon may follow.
        case beforeExtension
        case extensionNameStart, extensionName
        /// White space behind an extension's name, which only an equals sign or a semicolon may follow.
        case afterExtensionName
        case extensionValueStart, extensionValue, quotedValue, quotedPair, afterQuotedValue
        case data, dataCarriageReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed, endLineFeed
        case finished, failed
    }

    /// How much framing is read before the body is refused.
    public let limits: ParserLimits

    var phase = Phase.size
    /// The size of the chunk being read, then what is left of it.
    private var remaining: Int64 = 0
    private var digits = 0
    private var lineLength = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private var trailerFields = 0
    private var total: Int64 = 0
    private var failure: RequestError?

    /// A decoder at the beginning of a body.
    public init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits
    }

    /// Whether the last chunk and the trailer section have been read.
    public var isFinished: Bool { phase == .finished }

    /// Appends the body bytes in `input` to `body`.
    ///
    /// `maximum` is in bytes and for the whole body, all calls together; a chunk that announces more is refused at its
    /// size, before its bytes come. Everything is consumed unless the body ends in `input`; then `finished` is true and
    /// what comes after is the next request's.
    public mutating func decode(
        _ input: Span<UInt8>, into body: inout [UInt8], maximum: Int
    ) throws(RequestError) -> (consumed: Int, finished: Bool) {
        if let failure { throw failure }
        var position = 0
        do throws(RequestError) {
            while position < input.count {
                switch phase {
                case .finished, .failed: return (position, isFinished)
                case .data:
                    let count = Int(min(remaining, Int64(input.count - position)))
                    body.append(input.extracting(position..<position + count))
                    position += count
                    total += Int64(count)
                    remaining -= Int64(count)
                    if remaining == 0 { phase = .dataCarriageReturn }
                default:
                    try readFraming(input[position], maximum: maximum)
                    position += 1
                }
            }
        } catch {
            phase = .failed
            failure = error
            throw error
        }
        return (position, isFinished)
    }

    /// One byte that isn't data.
    private mutating func readFraming(_ byte: UInt8, maximum: Int) throws(RequestError) {
        switch phase {
        case .size, .sizeLineFeed: try readSize(byte, maximum: maximum)
        case .dataCarriageReturn:
            guard byte == ASCII.carriageReturn else {
                throw .malformedChunk("\(ASCII.describe(byte)) where a chunk's data should end")
            }
            phase = .dataLineFeed
        case .dataLineFeed:
            guard byte == ASCII.lineFeed else { throw .bareLineEnd }
            startLine()
        case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed, .endLineFeed: try readTrailer(byte)
        default: try readExtension(byte)
        }
    }

    private mutating func startLine() {
        phase = .size
        remaining = 0
        digits = 0
        lineLength = 0
    }

    private mutating func countLineByte() throws(RequestError) {
        lineLength += 1
        guard lineLength <= limits.chunkLine else {
            throw .malformedChunk("a chunk's line is longer than \(limits.chunkLine) bytes")
        }
    }

    mutating func countExtensionByte() throws(RequestError) {
        try countLineByte()
        extensionBytes += 1
        guard extensionBytes <= limits.chunkExtensions else {
            throw .malformedChunk("its chunk extensions are longer than \(limits.chunkExtensions) bytes together")
        }
    }

    mutating func countTrailerByte() throws(RequestError) {
        trailerBytes += 1
        guard trailerBytes <= limits.trailers else { throw .trailersTooLarge(limit: limits.trailers) }
    }

    mutating func countTrailerField() throws(RequestError) {
        trailerFields += 1
        guard trailerFields <= limits.fields else { throw .trailersTooLarge(limit: limits.trailers) }
    }

    private mutating func readSize(_ byte: UInt8, maximum: Int) throws(RequestError) {
        if phase == .sizeLineFeed {
            guard byte == ASCII.lineFeed else { throw .bareLineEnd }
            guard remaining <= Int64(max(maximum, 0)) - total else { throw .contentTooLarge(limit: maximum) }
            phase = remaining == 0 ? .trailerStart : .data
            return
        }
        try countLineByte()
        if let digit = ASCII.hexValue(byte) {
            guard remaining >> 59 == 0 else { throw .malformedChunk("a chunk's size is 2^63 or more") }
            remaining = remaining << 4 | Int64(digit)
            digits += 1
        } else {
            guard digits > 0 else {
                throw .malformedChunk("\(ASCII.describe(byte)) where a chunk's size should be, in hexadecimal digits")
            }
            try endElement(byte)
        }
    }

    /// What may follow a size or a whole extension.
    mutating func endElement(_ byte: UInt8) throws(RequestError) {
        switch byte {
        case ASCII.carriageReturn: phase = .sizeLineFeed
        case ASCII.semicolon: phase = .extensionNameStart
        case ASCII.space, ASCII.horizontalTab: phase = .beforeExtension
        case ASCII.lineFeed: throw .bareLineEnd
        default: throw .malformedChunk("\(ASCII.describe(byte)) in a chunk's line")
        }
    }
}
