/// An SQL statement with parameters `$1`, `$2`, …, which each connection prepares at its first use.
public struct PostgresStatement: Sendable, Hashable {
    /// The name of the prepared statement, unique among a connection's statements.
    public let name: String
    /// The text of one statement, without U+0000.
    public let sql: String

    /// Creates a statement with a unique name.
    public init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Hashes the name, which identifies the statement.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}
