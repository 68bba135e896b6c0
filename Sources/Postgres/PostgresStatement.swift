/// One SQL statement with parameters `$1`, `$2`, …, which each connection prepares when it is first run there.
public struct PostgresStatement: Sendable, Hashable {
    /// What the server knows it by; another statement of the connection must not have it.
    public let name: String
    /// One statement, without U+0000.
    public let sql: String

    /// A statement under a name of its own.
    public init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// By the name, which says it all.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}
