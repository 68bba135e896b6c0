/// Reads request heads from bytes as they come: RFC 9112 §2–§5.
///
/// Strict on purpose: what two implementations could read in two ways is refused. Each byte is looked at once however the
/// input is split, and what is found depends on the bytes alone. A head read into storage that was used before allocates
/// nothing, unless its method is an unusual one or its target is in absolute-form.
///
///     switch parser.parse(buffer.span) {
///     case .incomplete: // read more behind what is there, and call again with all of it
///     case .complete(let consumed): // `parser.head`; the body or the next head begins at `consumed`
///     case .failed(let error): // respond with `error.status` and close
///     }
public struct RequestParser: Sendable {
    /// What a call of ``parse(_:)`` came to.
    public enum Progress: Sendable, Hashable {
        /// All bytes are fine so far and there must be more.
        case incomplete
        /// The head is whole, and is the first `consumed` bytes of the input.
        case complete(consumed: Int)
        /// The request is refused, and so is everything after it.
        case failed(RequestError)
    }

    /// What the next byte belongs to.
    enum Phase: Sendable {
        case emptyLine, emptyLineFeed, method, target, version, requestLineFeed
        case lineStart, name, value, fieldLineFeed, headLineFeed
        case complete, failed
    }

    /// How much is read before a request is refused.
    public let limits: ParserLimits
    /// The head that was completed last, until the next call of ``parse(_:)``.
    public internal(set) var head = RequestHead()

    var phase = Phase.emptyLine
    /// The first byte that has not been looked at.
    var position = 0
    /// The first byte of the element being read: method, target, version, name or value.
    var mark = 0
    var nameStart = 0
    var nameEnd = 0
    var emptyLines = 0
    private var error: RequestError?
    var framing = FramingFields()

    /// A parser that has seen nothing.
    public init(limits: ParserLimits = ParserLimits()) {
        self.limits = limits
    }

    /// Whether the head being read has begun; empty lines before it don't count. False after a complete one.
    public var started: Bool {
        switch phase {
        case .emptyLine, .emptyLineFeed, .complete: false
        default: true
        }
    }

    /// Forgets what was read, keeping the storage; the next call of ``parse(_:)`` starts a head.
    public mutating func reset() {
        phase = .emptyLine
        position = 0
        emptyLines = 0
        error = nil
        framing = FramingFields()
        // A head that is refused early must not look like the one before it.
        head.method = .get
        head.version = .http11
        head.fields.removeAll(keepingCapacity: true)
    }

    /// Exchanges the completed head with another, so that both keep their storage: neither is copied, and the parser fills
    /// the other one's next.
    public mutating func exchangeHead(with other: inout RequestHead) {
        swap(&head, &other)
    }

    /// Reads on. `input` is all bytes from the first one of the head, those of earlier calls included; what
    /// ``Progress/complete(consumed:)`` consumed must be gone before the next call.
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

    /// Reads until the head ends (true) or the input does (false).
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
