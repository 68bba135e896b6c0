/// Decodes a chunked body incrementally: RFC 9112 §7.1.
///
/// Extensions are checked and ignored, trailers are checked and dropped. Neither reaches the fields of the request. The
/// decoder buffers no bytes; its state is a few numbers.
public struct ChunkedDecoder: Sendable {
    /// The element that the next byte belongs to.
    enum Phase: Sendable {
        case size, sizeLineFeed
        /// White space after a size or an extension, which only a semicolon may follow.
        case beforeExtension
        case extensionNameStart, extensionName
        /// White space after an extension's name, which only an equals sign or a semicolon may follow.
        case afterExtensionName
        case extensionValueStart, extensionValue, quotedValue, quotedPair, afterQuotedValue
        case data, dataCarriageReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed, endLineFeed
        case finished, failed
    }

    /// The limits of the framing. A body that exceeds them is refused.
    public let limits: ParserLimits

    var phase = Phase.size
    /// The size of the current chunk while its line is read, then its number of remaining bytes.
    private var remaining: Int64 = 0
    private var digits = 0
    private var lineLength = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private var trailerFields = 0
    private var total: Int64 = 0
    private var failure: RequestError?

    /// Creates a decoder for a new body.
    public init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits
    }

    /// Whether the last chunk and the trailer section have been read.
    public var isFinished: Bool { phase == .finished }

    /// Appends the body bytes in `input` to `body`.
    ///
    /// `maximum` is the limit in bytes of the whole body, over all calls. A chunk that would exceed it is refused when
    /// its size has been read. All of `input` is consumed unless the body ends in it. Then `finished` is true, and the
    /// remaining bytes belong to the next request.
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

    /// Reads one byte that is not data.
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

    /// Reads the byte after a size or an extension.
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
