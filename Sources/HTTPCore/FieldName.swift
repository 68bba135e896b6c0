/// The name of a field, which is a token that compares without case: RFC 9110 §5.1.
public struct FieldName: Sendable {
    /// The spelling that is written into messages: the one the name was made with.
    public let canonical: String

    /// A name from text that may be anything; nil unless it is a token (RFC 9110 §5.6.2).
    public init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy({ ByteSet.token.contains($0) }) else { return nil }
        self.init(token: name)
    }

    /// A name that is a constant of the program, and must be a token: `FieldName(constant: "X-Example")`.
    ///
    /// One that isn't is a programmer's mistake; its illegal characters become `-`, so that it can't split a message.
    public init(constant name: StaticString) {
        let name = name.description
        guard let token = FieldName(name) else {
            let legal = name.utf8.map { ByteSet.token.contains($0) ? $0 : UInt8(ascii: "-") }
            self.init(token: legal.isEmpty ? "-" : String(decoding: legal, as: UTF8.self))
            return
        }
        self = token
    }

    /// A name that is known to be a token.
    init(token: String) {
        canonical = token
    }

    /// The name with its letters in lower case.
    public var lowercased: String { String(decoding: canonical.utf8.map(ASCII.lowercased), as: UTF8.self) }

    /// One bit that depends on the name's length and first letter, and distinguishes most names.
    var trait: UInt64 { Self.trait(length: canonical.utf8.count, initial: canonical.utf8.first ?? 0) }

    /// The trait of a name of so many bytes with that first letter, in either case.
    static func trait(length: Int, initial: UInt8) -> UInt64 {
        1 &<< UInt64(truncatingIfNeeded: 7 &* length &+ Int(ASCII.lowercased(initial)))
    }
}

extension FieldName: Hashable {
    /// Whether both are the same name, letters compared without case.
    public static func == (left: FieldName, right: FieldName) -> Bool {
        left.canonical.utf8.equalsIgnoringCase(right.canonical)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(lowercased)
    }
}

extension FieldName: CustomStringConvertible {
    /// The same as `canonical`.
    public var description: String { canonical }
}
