/// Writes JSON straight into bytes, without white space. Commas are written automatically.
///
/// The caller must end each object and array, and write one value after each name.
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public var bytes: [UInt8] = []
    /// Whether the next name or value needs a comma before it.
    private var needsComma = false

    /// Creates a writer without bytes.
    public init() {}

    /// Writes `{`.
    public mutating func beginObject() {
        begin(UInt8(ascii: "{"))
    }

    /// Writes `}`.
    public mutating func endObject() {
        end(UInt8(ascii: "}"))
    }

    /// Writes `[`.
    public mutating func beginArray() {
        begin(UInt8(ascii: "["))
    }

    /// Writes `]`.
    public mutating func endArray() {
        end(UInt8(ascii: "]"))
    }

    /// Writes a member's name, escaped where needed.
    public mutating func name(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string, escaped where needed.
    public mutating func value(_ string: String) {
        separate()
        appendQuoted(string)
        needsComma = true
    }

    /// Writes an integer.
    public mutating func value(_ integer: Int64) {
        separate()
        Self.appendDigits(of: integer, to: &bytes)
        needsComma = true
    }

    /// Writes an integer.
    public mutating func value(_ integer: Int) {
        value(Int64(integer))
    }

    /// Writes the shortest number that reads back as `number`. Infinities and NaN, which JSON lacks, become `null` (RFC
    /// 8259 §6).
    public mutating func value(_ number: Double) {
        separate()
        bytes.append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func value(_ bool: Bool) {
        separate()
        bytes.append(contentsOf: bool ? "true".utf8 : "false".utf8)
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// Writes a whole value.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let bool): self.value(bool)
        case .integer(let integer): self.value(integer)
        case .number(let number): self.value(number)
        case .string(let string): self.value(string)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                name(member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    /// Writes an integer as a string of digits, for clients that expect a string.
    public mutating func digits(_ integer: Int64) {
        plain { Self.appendDigits(of: integer, to: &$0) }
    }

    /// Writes a string that needs no escaping. `append` appends its text to the bytes.
    public mutating func plain(_ append: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(&bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a value that is already JSON, unchanged.
    public mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes a value that is already JSON. `write` appends it to the bytes.
    public mutating func raw(_ write: (inout [UInt8]) -> Void) {
        separate()
        write(&bytes)
        needsComma = true
    }

    /// Runs `write`, and removes its output if there are more than `limit` bytes afterwards.
    /// - Returns: Whether the output was kept.
    public mutating func attempt(limit: Int, _ write: (inout JSONWriter) -> Void) -> Bool {
        let (count, needsComma) = (bytes.count, needsComma)
        write(&self)
        guard bytes.count > limit else { return true }
        bytes.removeLast(bytes.count - count)
        self.needsComma = needsComma
        return false
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }
}

extension JSONWriter {
    /// Writes a member: its name, and a string or `null`.
    public mutating func member(_ name: String, _ string: String?) {
        self.name(name)
        if let string { value(string) } else { null() }
    }

    /// Writes a member: its name, and an integer or `null`.
    public mutating func member(_ name: String, _ integer: Int?) {
        self.name(name)
        if let integer { value(integer) } else { null() }
    }

    /// Writes a member: its name, and an integer or `null`.
    public mutating func member(_ name: String, _ integer: Int64?) {
        self.name(name)
        if let integer { value(integer) } else { null() }
    }

    /// Writes a member: its name, and a number or `null`.
    public mutating func member(_ name: String, _ number: Double?) {
        self.name(name)
        if let number { value(number) } else { null() }
    }

    /// Writes a member: its name, and a truth value or `null`.
    public mutating func member(_ name: String, _ bool: Bool?) {
        self.name(name)
        if let bool { value(bool) } else { null() }
    }

    /// Writes a member: its name, and a whole value or `null`.
    public mutating func member(_ name: String, _ value: JSONValue?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }
}

extension JSONWriter {
    private mutating func appendQuoted(_ string: String) {
        let text = string.utf8.span
        var needsEscaping = false
        bytes.append(addingCapacity: text.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in text.indices {
                output.append(text[index])
                if Self.mayNeedEscape(text[index]) { needsEscaping = true }
            }
            output.append(UInt8(ascii: "\""))
        }
        if needsEscaping {
            bytes.removeLast(text.count + 2)
            appendEscaped(string)
        }
    }

    /// Whether a byte is part of a character that ``appendEscaped(_:)`` escapes, or of others that begin with it.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0xC2 || byte == 0xE2
    }

    /// Escapes the characters for which RFC 8259 §7 requires it, and those at which some readers of event streams divide
    /// lines: U+0085, U+2028 and U+2029.
    private mutating func appendEscaped(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar.value {
            case 0x08: bytes.append(contentsOf: #"\b"#.utf8)
            case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
            case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
            case 0x0C: bytes.append(contentsOf: #"\f"#.utf8)
            case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
            case 0..<0x20, 0x85, 0x2028, 0x2029:
                let digits = String(scalar.value, radix: 16)
                bytes.append(contentsOf: #"\u"#.utf8)
                bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
                bytes.append(contentsOf: digits.utf8)
            case 0x22, 0x5C:
                bytes.append(UInt8(ascii: "\\"))
                fallthrough
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends an integer to bytes.
    public static func appendDigits(of integer: Int64, to bytes: inout [UInt8]) {
        // Eight digits fit into one word, the first one in its lowest byte.
        var (digits, count, rest) = (UInt64(0), 0, integer.magnitude)
        repeat {
            digits = digits << 8 | UInt64(UInt8(ascii: "0")) + rest % 10
            rest /= 10
            count += 1
        } while rest > 0 && count < 8
        guard rest == 0, integer >= 0 else {
            bytes.append(contentsOf: integer.description.utf8)
            return
        }
        bytes.append(addingCapacity: 8) { output in
            for _ in 0..<count {
                output.append(UInt8(truncatingIfNeeded: digits))
                digits >>= 8
            }
        }
    }
}
