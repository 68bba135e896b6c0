/// Reads a JSON text by recursive descent over its bytes.
struct JSONParser {
    /// The element ranges of the text's own array, of an array that is its member, or of an array that is a member's
    /// member.
    struct OuterArray: Sendable {
        /// The names of the members that lead to the array.
        let path: [String]
        var ranges: [Range<Int>]
    }

    /// A member of the outermost object, and the byte range of its value.
    struct OuterMember: Sendable {
        let name: String
        let range: Range<Int>
    }

    let bytes: [UInt8]
    private(set) var position = 0
    /// The located arrays; filled only if the parser was asked to locate elements.
    private(set) var outerArrays: [OuterArray] = []
    private(set) var outerMembers: [OuterMember] = []
    /// The maximum number of names that lead to a located array.
    private static let deepestOuter = 2
    private let maximumDepth: Int
    /// The number of further values that the text may have.
    private var valuesLeft: Int
    private let locatesElements: Bool
    /// The names of the open members of the outermost object and of an object in it. It has fewer names than the depth
    /// inside an array.
    private var outerPath: [String] = []

    init(bytes: [UInt8], maximumDepth: Int, maximumValues: Int = .max, locatesElements: Bool) {
        valuesLeft = maximumValues
        self.bytes = bytes
        self.maximumDepth = min(max(maximumDepth, 0), JSONLimits.depth)
        self.locatesElements = locatesElements
    }

    /// Parses JSON-text = ws value ws (RFC 8259 §2).
    mutating func parseText() throws(JSONError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipWhiteSpace()
        let value = try parseValue(depth: 0)
        skipWhiteSpace()
        if position < bytes.count { throw error("Unexpected bytes after the value") }
        return value
    }

    func error(_ reason: String, at offset: Int? = nil) -> JSONError {
        if offset == nil, position >= bytes.count {
            return JSONError(offset: bytes.count, reason: "Unexpected end of the text")
        }
        return JSONError(offset: offset ?? position, reason: reason)
    }

    /// The byte at the position. After the end it is 0, which begins nothing in JSON.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw error("Too many values", at: position) }
        switch current {
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "{"): return try parseObject(depth: depth)
        case UInt8(ascii: "["): return try parseArray(depth: depth)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        default: throw error("Expected a value")
        }
    }

    private mutating func expect(_ literal: String) throws(JSONError) {
        for byte in literal.utf8 {
            if current != byte { throw error("Expected “\(literal)”") }
            position += 1
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> JSONValue {
        try enter(depth)
        let isOuter = locatesElements && depth <= Self.deepestOuter && outerPath.count == depth
        var ranges: [Range<Int>] = []
        var elements: [JSONValue] = []
        skipWhiteSpace()
        if current == UInt8(ascii: "]") {
            position += 1
        } else {
            while true {
                let start = position
                elements.append(try parseValue(depth: depth + 1))
                if isOuter { ranges.append(start..<position) }
                skipWhiteSpace()
                if current == UInt8(ascii: ",") {
                    position += 1
                    skipWhiteSpace()
                } else if current == UInt8(ascii: "]") {
                    position += 1
                    break
                } else {
                    throw error("Expected “,” or “]” in an array")
                }
            }
        }
        if isOuter { outerArrays.append(OuterArray(path: outerPath, ranges: ranges)) }
        return .array(elements)
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONValue {
        try enter(depth)
        let isOuter = locatesElements && depth < Self.deepestOuter && outerPath.count == depth
        var members: [JSONMember] = []
        var names = NameSet()
        skipWhiteSpace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            guard current == UInt8(ascii: "\"") else { throw error("Expected a member's name in quotation marks") }
            let start = position
            let name = try parseString()
            if !names.insert(name, beside: members) { throw error("The member “\(name.prefix(64))” occurs twice", at: start) }
            skipWhiteSpace()
            guard current == UInt8(ascii: ":") else { throw error("Expected “:” after a member's name") }
            position += 1
            skipWhiteSpace()
            if isOuter { outerPath.append(name) }
            let valueStart = position
            members.append(JSONMember(name: name, value: try parseValue(depth: depth + 1)))
            if isOuter {
                outerPath.removeLast()
                if depth == 0 { outerMembers.append(OuterMember(name: name, range: valueStart..<position)) }
            }
            skipWhiteSpace()
            if current == UInt8(ascii: ",") {
                position += 1
                skipWhiteSpace()
            } else if current == UInt8(ascii: "}") {
                position += 1
                return .object(members)
            } else {
                throw error("Expected “,” or “}” in an object")
            }
        }
    }

    private mutating func enter(_ depth: Int) throws(JSONError) {
        if depth >= maximumDepth { throw error("More than \(maximumDepth) arrays and objects inside each other") }
        position += 1
    }
}

extension JSONParser {
    /// Reads a string from its opening quotation mark to the byte after its closing one (RFC 8259 §7).
    private mutating func parseString() throws(JSONError) -> String {
        let opening = position
        position += 1
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return try text(bytes.span.extracting(start..<position - 1), opening: opening)
            }
            if byte == UInt8(ascii: "\\") { return try parseEscapedString(opening: opening, plain: start..<position) }
            if byte < 0x20 { throw error("A control character in a string must be escaped") }
            position += 1
        }
        throw error("")
    }

    /// Reads the rest of a string from its first backslash on. `plain` is the range of the bytes before it.
    private mutating func parseEscapedString(opening: Int, plain: Range<Int>) throws(JSONError) -> String {
        var unescaped = Array(bytes[plain])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return try text(unescaped.span, opening: opening)
            case UInt8(ascii: "\\"):
                try parseEscape(into: &unescaped)
            case 0..<0x20:
                throw error("A control character in a string must be escaped", at: position - 1)
            default:
                unescaped.append(byte)
            }
        }
        throw error("")
    }

    private func text(_ bytes: Span<UInt8>, opening: Int) throws(JSONError) -> String {
        guard let text = try? UTF8Span(validating: bytes) else { throw error("A string that is not UTF-8", at: opening) }
        return String(copying: text)
    }

    private mutating func parseEscape(into unescaped: inout [UInt8]) throws(JSONError) {
        let escape = current
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            let scalar = try parseEscapedScalar()
            unescaped.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            return
        default: throw error("An unknown escape in a string")
        }
        position += 1
    }

    /// Reads the `XXXX` after `\u`, or `XXXX\uXXXX` for a surrogate pair.
    private mutating func parseEscapedScalar() throws(JSONError) -> Unicode.Scalar {
        let start = position
        let first = try parseHexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // RFC 8259 §8.2 leaves lone surrogates undefined. No Unicode text has them, so they are refused rather than
        // replaced.
        guard first < 0xDC00, current == UInt8(ascii: "\\") else { throw error("A lone surrogate in a string", at: start) }
        position += 1
        guard current == UInt8(ascii: "u") else { throw error("A lone surrogate in a string", at: start) }
        position += 1
        let second = try parseHexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw error("A lone surrogate in a string", at: start) }
        return scalar
    }

    private mutating func parseHexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = current
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error("Expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

extension JSONParser {
    /// Reads a number (RFC 8259 §6).
    private mutating func parseNumber() throws(JSONError) -> JSONValue {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let integerStart = position
        try skipDigits(orThrow: "Expected a digit")
        if position - integerStart > 1, bytes[integerStart] == UInt8(ascii: "0") {
            throw error("A number must not begin with a zero", at: integerStart)
        }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits(orThrow: "Expected a digit after the decimal point")
        }
        if current | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
            try skipDigits(orThrow: "Expected a digit in the exponent")
        }
        if position - start > JSONLimits.numberLength {
            throw error("A number longer than \(JSONLimits.numberLength) bytes", at: start)
        }

        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw error("A number too large for a double", at: start) }
        return .number(number)
    }

    /// Skips digits; throws an error with `reason` if there is none.
    private mutating func skipDigits(orThrow reason: String) throws(JSONError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        if position == start { throw error(reason) }
    }
}

/// The names of an object during parsing. Large objects use a hash table, since a linear search would take quadratic
/// time. For small objects the linear search is faster.
private struct NameSet {
    private static let linearLimit = 48
    private var hashed: Set<[UInt8]> = []

    /// Whether `name` is new.
    mutating func insert(_ name: String, beside members: [JSONMember]) -> Bool {
        if members.count < Self.linearLimit {
            return !members.contains { haveSameBytes($0.name, name) }
        }
        if hashed.isEmpty {
            for member in members { hashed.insert(Array(member.name.utf8)) }
        }
        return hashed.insert(Array(name.utf8)).inserted
    }
}
