/// The reason why a text is not acceptable JSON, and the offset at which it was noticed.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offset of the byte at which the error was noticed, from 0.
    public let offset: Int
    /// The reason, as the beginning of a sentence.
    public let reason: String

    /// The reason and the offset as text.
    public var description: String { "\(reason) at byte \(offset)" }
}

/// The parser's limits (RFC 8259 §9 lets an implementation set limits).
public enum JSONLimits {
    /// The maximum number of nested arrays and objects. A caller cannot raise it. Parsing recurses, and threads may
    /// have small stacks.
    public static let depth = 512
    /// The maximum bytes of one number. The longest exact double takes about 770 digits; further digits only cost time.
    public static let numberLength = 1024
}
