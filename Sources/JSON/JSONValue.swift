/// One JSON value in memory (RFC 8259 §3).
///
/// Members of an object keep the order in which they were written. A parsed object has no two members of the same name.
public enum JSONValue: Sendable, Equatable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case bool(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number. Never infinite or NaN when it was parsed.
    case number(Double)
    /// A string, which may hold any Unicode scalar value, U+0000 included.
    case string(String)
    /// The elements of an array, in order.
    case array([JSONValue])
    /// The members of an object, in order.
    case object([JSONMember])
}

/// A name and its value in an object (RFC 8259 §4).
public struct JSONMember: Sendable, Equatable {
    /// The name, unescaped.
    public let name: String
    /// The value.
    public let value: JSONValue

    /// Creates a member.
    public init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// Parses one JSON text (RFC 8259) in UTF-8, with optional white space before and after it. A byte order mark is
    /// skipped (§8.1), since Windows programs write one.
    ///
    /// The following are refused, too:
    /// - a name that occurs twice in an object,
    /// - a lone surrogate,
    /// - a number longer than ``JSONLimits/numberLength`` bytes, or too large for a double,
    /// - more than `maximumDepth` nested arrays and objects (at most ``JSONLimits/depth``, since each level costs
    ///   stack).
    public init(parsing bytes: some Collection<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
        var parser = JSONParser(bytes: Array(bytes), maximumDepth: maximumDepth, locatesElements: false)
        self = try parser.parseText()
    }

    /// The value of the member called `name`; `nil` if there is none or this is not an object. Names are compared byte
    /// by byte.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { haveSameBytes($0.name, name) }?.value
    }

    /// The string; `nil` for other values.
    public var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The number, if it has no fraction and fits 64 bits, in any notation: `1.0` is 1. `nil` for other values.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): wholeNumber(number)
        default: nil
        }
    }

    /// The number, rounded to a double; `nil` for other values.
    public var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The truth value; `nil` for other values.
    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The elements of an array; `nil` for other values.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object, in order; `nil` for other values.
    public var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// This value as JSON without white space.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

/// Compares the bytes of two strings. JSON compares code unit by code unit (RFC 8259 §8.3); Swift's `==` takes
/// canonically equivalent strings as equal.
func haveSameBytes(_ first: String, _ second: String) -> Bool {
    first == second && first.utf8.elementsEqual(second.utf8)
}

/// The number as an integer; `nil` unless it is whole and fits 64 bits. `Int64(exactly:)` would require the mathematics
/// library, which nothing else here links.
private func wholeNumber(_ number: Double) -> Int64? {
    guard number >= -0x1p63, number < 0x1p63 else { return nil }
    let truncated = Int64(number)
    return Double(truncated) == number ? truncated : nil
}
