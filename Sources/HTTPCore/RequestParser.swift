/// Parses request heads incrementally: RFC 9112 §2–§5.
///
/// The parser refuses text that two implementations could read differently. It examines each byte once, and the result
/// does not depend on how the input is split. Parsing into reused storage allocates nothing, unless the method is
/// unusual or the target is in absolute-form.
///
///     switch parser.parse(buffer.span) {
///     case .incomplete: // append more input, and call again with all of it
///     case .complete(let consumed): // use `parser.head`; the body or the next head begins at `consumed`
///     case .failed(let error): // respond with `error.status` and close
///     }
public struct RequestParser: Sendable {
    /// The result of a call of ``parse(_:)``.
    public enum Progress: Sendable, Hashable {
        /// All bytes so far are valid, and the head needs more.
        case incomplete
        /// The head is complete, and has the first `consumed` bytes of the input.
        case complete(consumed: Int)
        /// The request is refused, as is all later input.
        case failed(RequestError)
    }

    /// The element that the next byte belongs to.
    enum Phase: Sendable {
        case emptyLine, emptyLineFeed, method, target, version, requestLineFeed
        case lineStart, name, value, fieldLineFeed, headLineFeed
        case complete, failed
    }

    /// The limits of a request. A request that exceeds them is refused.
    public let limits: ParserLimits
    /// The head that was completed last. It is valid until the next call of ``parse(_:)``.
    public internal(set) var head = RequestHead()

    var phase = Phase.emptyLine
    /// The offset of the first byte that has not been examined.
    var position = 0
    /// The offset of the current element's first byte: method, target, version, name or value.
    var mark = 0
    /// Whether the target has bytes outside of ``ByteSet/requestTarget``.
    var targetNeedsEscapes = false
    var nameStart = 0
    var nameEnd = 0
    var emptyLines = 0
    private var error: RequestError?
    var framing = FramingFields()

    /// Creates a parser without input.
    public init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits
    }

    /// Whether the current head has begun. Empty lines before it do not count. False after a complete head.
    public var started: Bool {
        switch phase {
        case .emptyLine, .emptyLineFeed, .complete: false
        default: true
        }
    }

    /// Discards the parsed input, but keeps the storage. The next call of ``parse(_:)`` begins a new head.
    public mutating func reset() {
        phase = .emptyLine
        position = 0
        emptyLines = 0
        targetNeedsEscapes = false
        error = nil
        framing = FramingFields()
        // A head that is refused early must not have parts of the previous one.
        head.method = .get
        head.version = .http11
        head.fields.removeAll(keepingCapacity: true)
    }

    /// Swaps the completed head with another one. Neither is copied, and the parser parses the next head into the
    /// other's storage.
    public mutating func exchangeHead(with other: inout RequestHead) {
        swap(&head, &other)
    }

    /// Continues parsing. `input` is all bytes from the beginning of the head, also from earlier calls. The
    /// bytes that ``Progress/complete(consumed:)`` consumed must be removed before the next call.
    public mutating func parse(_ input: Span<UInt8>) -> Progress {
        if let error { return .failed(error) }
        if phase == .complete { reset() }
        do throws(RequestError) {
            guard try advance(input) else { return .incomplete }
            phase = .complete
            return .complete(consumed: position)
        } catch {
            phase = .failed
            self.error = error
            return .failed(error)
        }
    }

    /// Parses until the head ends (true) or the input ends (false).
    private mutating func advance(_ input: Span<UInt8>) throws(RequestError) -> Bool {
        let end = min(input.count, limits.head)
        while position < end {
            switch phase {
            case .emptyLine: try readEmptyLine(input)
            case .emptyLineFeed:
                try expectLineFeed(input, then: .emptyLine)
                emptyLines += 1
            case .method: try readMethod(input, end)
            case .target: try readTarget(input, end)
            case .version: try readVersion(input, end)
            case .requestLineFeed:
                try expectLineFeed(input, then: .lineStart)
                try finishRequestLine()
            case .lineStart: try readLineStart(input)
            case .name: try readName(input, end)
            case .value: try readValue(input, end)
            case .fieldLineFeed:
                try expectLineFeed(input, then: .lineStart)
                finishField(input)
            case .headLineFeed:
                try expectLineFeed(input, then: .complete)
                try framing.finish(&head)
                return true
            case .complete, .failed: return false
            }
        }
        if position >= limits.head {
            switch phase {
            case .method, .target: throw .targetTooLong(limit: limits.target)
            default: throw .headTooLarge(limit: limits.head)
            }
        }
        return false
    }
}
