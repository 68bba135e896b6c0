/// A parameter of a statement. PostgreSQL infers its type from its use in the SQL.
public enum PostgresValue: Sendable, Equatable {
    /// NULL.
    case null
    /// For `boolean`.
    case boolean(Bool)
    /// For `smallint`, `integer`, `bigint`, `numeric` and other types written as numbers.
    case integer(Int64)
    /// For `text`, and for every other type in the form of its SQL literal. Must not contain U+0000, which PostgreSQL
    /// cannot store.
    case text(String)
    /// For `bytea`.
    case bytes([UInt8])
}

extension PostgresValue {
    /// Whether a text contains U+0000, which PostgreSQL cannot store.
    public static func hasNUL(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where bytes[index] == 0 { return true }
        return false
    }
}

extension PostgresValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
{
    /// NULL.
    public init(nilLiteral: ()) { self = .null }

    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// A number.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
}
