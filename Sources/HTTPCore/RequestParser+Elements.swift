/// One function for each phase. It reads from `position` on, and enters the next phase when its element ends.
extension RequestParser {
    // MARK: Lines

    mutating func expectLineFeed(_ input: Span<UInt8>, then next: Phase) throws(RequestError) {
        guard input[position] == ASCII.lineFeed else { throw .bareLineEnd }
        position += 1
        phase = next
    }

    mutating func readEmptyLine(_ input: Span<UInt8>) throws(RequestError) {
        switch input[position] {
        case ASCII.carriageReturn:
            guard emptyLines < limits.emptyLines else {
                throw .malformedRequestLine("more than \(limits.emptyLines) empty lines before it")
            }
            position += 1
            phase = .emptyLineFeed
        case ASCII.lineFeed: throw .bareLineEnd
        default:
            mark = position
            phase = .method
        }
    }

    // MARK: Request line, RFC 9112 §3: exactly one SP between its three parts

    mutating func readMethod(_ input: Span<UInt8>, _ end: Int) throws(RequestError) {
        let last = min(end, mark + limits.method)
        position = input.endOfRun(of: .token, from: position, to: last)
        guard position < end else { return }
        let byte = input[position]
        if byte == ASCII.space, position > mark {
            head.method = HTTPMethod(token: input.extracting(mark..<position))
            position += 1
            mark = position
            phase = .target
        } else if ByteSet.token.contains(byte) {
            // RFC 9112 §3: a method longer than all implemented ones gets 501.
            throw .methodTooLong(limit: limits.method)
        } else if byte == ASCII.lineFeed {
            throw .bareLineEnd
        } else {
            throw .malformedRequestLine("\(ASCII.describe(byte)) where the method or the space after it should be")
        }
    }

    mutating func readTarget(_ input: Span<UInt8>, _ end: Int) throws(RequestError) {
        let last = min(end, mark + limits.target)
        // Most targets are in this set, which is faster to look up.
        position = input.endOfRun(of: .requestTarget, from: position, to: last)
        if position < last, ByteSet.sentTarget.contains(input[position]) {
            position = input.endOfRun(of: .sentTarget, from: position, to: last)
            targetNeedsEscapes = true
        }
        guard position < end else { return }
        let byte = input[position]
        if byte == ASCII.space, position > mark {
            // RFC 9112 §3.2.3: the target of CONNECT is in authority-form, which only proxies serve.
            guard head.method != .connect else { throw .connectRefused }
            try head.target.assign(input.extracting(mark..<position), needsEscapes: targetNeedsEscapes)
            targetNeedsEscapes = false
            position += 1
            mark = position
            phase = .version
            return
        }
        if position == mark + limits.target, byte != ASCII.space { throw .targetTooLong(limit: limits.target) }
        switch byte {
        case ASCII.space: throw .malformedRequestLine("two spaces, where one separates method and target")
        case ASCII.carriageReturn: throw .malformedRequestLine("it ends without a version, such as HTTP/1.1")
        case ASCII.lineFeed: throw .bareLineEnd
        case UInt8(ascii: "#"): throw .malformedTarget("it has a fragment, which is never sent")
        default: throw .malformedTarget("\(ASCII.describe(byte)) must be percent-encoded")
        }
    }

    mutating func readVersion(_ input: Span<UInt8>, _ end: Int) throws(RequestError) {
        if position == mark, Self.isUsualVersion(input, at: mark, end) {
            head.version = .http11
            position = mark + 9
            phase = .requestLineFeed
            return
        }
        while position < end {
            let byte = input[position]
            let isExpected =
                switch position - mark {
                case 0: byte == UInt8(ascii: "H")
                case 1, 2: byte == UInt8(ascii: "T")
                case 3: byte == UInt8(ascii: "P")
                case 4: byte == ASCII.slash
                case 5, 7: ASCII.isDigit(byte)
                case 6: byte == UInt8(ascii: ".")
                default: byte == ASCII.carriageReturn
                }
            guard isExpected else {
                if byte == ASCII.lineFeed { throw .bareLineEnd }
                throw .malformedRequestLine("\(ASCII.describe(byte)) in the version; it has the form HTTP/1.1")
            }
            position += 1
            if byte == ASCII.carriageReturn {
                head.version = HTTPVersion(major: Int(input[mark + 5] &- 0x30), minor: Int(input[mark + 7] &- 0x30))
                phase = .requestLineFeed
                return
            }
        }
    }

    /// Whether `HTTP/1.1` and a CR are at this offset.
    private static func isUsualVersion(_ input: Span<UInt8>, at start: Int, _ end: Int) -> Bool {
        guard end - start >= 9 else { return false }
        return input[start] == UInt8(ascii: "H") && input[start + 1] == UInt8(ascii: "T") && input[start + 2] == UInt8(ascii: "T")
            && input[start + 3] == UInt8(ascii: "P") && input[start + 4] == ASCII.slash && input[start + 5] == UInt8(ascii: "1")
            && input[start + 6] == UInt8(ascii: ".") && input[start + 7] == UInt8(ascii: "1")
            && input[start + 8] == ASCII.carriageReturn
    }

    mutating func finishRequestLine() throws(RequestError) {
        guard head.version.major == 1 else { throw .unsupportedVersion(head.version) }
        try head.target.check(for: head.method)
    }

    // MARK: Field lines, RFC 9112 §5

    mutating func readLineStart(_ input: Span<UInt8>) throws(RequestError) {
        switch input[position] {
        case ASCII.carriageReturn:
            position += 1
            phase = .headLineFeed
        case ASCII.lineFeed: throw .bareLineEnd
        case ASCII.space, ASCII.horizontalTab:
            // RFC 9112 §5.2 (obs-fold) and §2.2 (before the first field): both are refused.
            throw .malformedField("a line begins with white space; folded lines are not accepted")
        default:
            guard head.fields.count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
            nameStart = position
            phase = .name
        }
    }

    mutating func readName(_ input: Span<UInt8>, _ end: Int) throws(RequestError) {
        position = input.endOfRun(of: .token, from: position, to: end)
        guard position < end else { return }
        switch input[position] {
        case ASCII.colon where position > nameStart:
            nameEnd = position
            position += 1
            mark = position
            phase = .value
        case ASCII.colon: throw .malformedField("a line begins with a colon instead of a name")
        case ASCII.lineFeed: throw .bareLineEnd
        case ASCII.carriageReturn: throw .malformedField("a line has no colon")
        case ASCII.space, ASCII.horizontalTab:
            // RFC 9112 §5.1: white space between name and colon must be refused.
            throw .malformedField("white space in or after a name; the colon follows the name")
        case let byte: throw .malformedField("\(ASCII.describe(byte)) in a name")
        }
    }

    mutating func readValue(_ input: Span<UInt8>, _ end: Int) throws(RequestError) {
        position = input.endOfRun(of: .fieldValue, from: position, to: end)
        guard position < end else { return }
        switch input[position] {
        case ASCII.carriageReturn:
            position += 1
            phase = .fieldLineFeed
        case ASCII.lineFeed: throw .bareLineEnd
        case let byte: throw .malformedField("\(ASCII.describe(byte)) in a value")
        }
    }

    mutating func finishField(_ input: Span<UInt8>) {
        var start = mark
        // The two bytes before `position` are the CR and LF that end the line.
        var end = position - 2
        while start < end, ASCII.isWhiteSpace(input[start]) { start += 1 }
        while end > start, ASCII.isWhiteSpace(input[end - 1]) { end -= 1 }
        let name = input.extracting(nameStart..<nameEnd)
        framing.record(name, at: head.fields.count)
        head.fields.append(parsedName: name, value: input.extracting(start..<end))
    }
}
