/// Why a text is not the JSON that was asked for, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The position of the byte at which it was noticed, from 0.
    public let offset: Int
    /// What was wrong, as the beginning of a sentence.
    public let reason: String

    /// An error at `offset`.
    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    /// The reason and the place, for people.
    public var description: String { "\(reason) at byte \(offset)" }
}

/// What the parser takes (RFC 8259 §9 lets an implementation set limits).
public enum JSONLimits {
    /// Arrays and objects inside each other, whatever a caller asks for: parsing recurses, and threads may have small stacks.
    public static let depth = 512
    /// Bytes of one number. The longest exact double takes about 770 digits; beyond that digits only cost time.
    public static let numberLength = 1024
}
