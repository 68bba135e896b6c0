/// The name of a field, a token that is compared without case: RFC 9110 §5.1.
public struct FieldName: Sendable {
    /// The spelling in messages, which is the one that the name was created with.
    public let canonical: String

    /// Creates a name from arbitrary text; nil unless it is a token (RFC 9110 §5.6.2).
    public init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy({ ByteSet.token.contains($0) }) else { return nil }
        self.init(token: name)
    }

    /// Creates a name from a constant, which must be a token: `FieldName(constant: "X-Example")`.
    ///
    /// Illegal characters, which are a programmer's mistake, become `-`, so that the name cannot split a message.
    public init(constant name: StaticString) {
        let name = name.description
        guard let token = FieldName(name) else {
            let legal = name.utf8.map { ByteSet.token.contains($0) ? $0 : UInt8(ascii: "-") }
            self.init(token: legal.isEmpty ? "-" : String(decoding: legal, as: UTF8.self))
            return
        }
        self = token
    }

    /// Creates a name from text that is known to be a token.
    init(token: String) {
        canonical = token
    }

    /// The name with its letters in lower case.
    public var lowercased: String { canonical.asciiLowercased }

    /// One bit that depends on the name's length and first letter. Most names differ in it.
    var trait: UInt64 { Self.trait(length: canonical.utf8.count, initial: canonical.utf8.first ?? 0) }

    /// The trait of a name with the given length in bytes and first letter, in either case.
    static func trait(length: Int, initial: UInt8) -> UInt64 {
        1 &<< UInt64(truncatingIfNeeded: 7 &* length &+ Int(ASCII.lowercased(initial)))
    }
}

extension FieldName: Hashable {
    /// Whether both are the same name, compared without case.
    public static func == (left: FieldName, right: FieldName) -> Bool {
        left.canonical.utf8.equalsIgnoringCase(right.canonical)
    }

    /// Hashes the lowercase name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(lowercased)
    }
}

extension FieldName: CustomStringConvertible {
    /// The canonical spelling.
    public var description: String { canonical }
}
