package import DownloadCore

/// Reads the rows of a database. Each read is one method beside the coding of its rows, for both databases: a statement,
/// its parameters and their decoding.
package protocol StoreReader {
    associatedtype Row: RowDecoder

    var dialect: StoreDialect { get }

    /// Passes on the rows of a statement, for one list of parameters after another.
    /// - Parameters:
    ///   - name: The name of the statement, unique in a database.
    ///   - sql: The statement. Its parameters `$1`, `$2`, … are texts, and appear in this order.
    func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (Row) throws -> Void
    ) throws(StoreError)
}

/// The SQL in which the databases differ.
package struct StoreDialect: Sendable {
    /// The prefix of the tables' names.
    var schema = ""
    /// The condition for rows of this service in tables whose rows have owners.
    var isOwn = "true"
    /// The id, body and version of a subscription, and the numbers of its items by state.
    var subscriptionColumns = SubscriptionRow.columns
}

extension StoreReader {
    /// Returns the settings by their names.
    package func settings() throws(StoreError) -> [String: String] {
        var settings: [String: String] = [:]
        try rows("settings", "SELECT name, value FROM \(dialect.schema)settings", [[]]) { settings.add($0) }
        return settings
    }
}

extension StoredContents {
    /// Reads the settings, the outcomes of idempotency keys and the subscriptions.
    mutating func readOthers(by reader: some StoreReader) throws(StoreError) {
        settings = try reader.settings()
        let schema = reader.dialect.schema
        let keys = "SELECT \(IdempotencyRow.columns) FROM \(schema)idempotency_keys ORDER BY created_at, key"
        try reader.rows("keys", keys, [[]]) { row in
            try reading(.keys, row.key(0)) { contents throws(StoreError) in
                contents.idempotencyRecords.append(try IdempotencyRow.record(from: row))
            }
        }
        let subscriptions = "SELECT \(reader.dialect.subscriptionColumns) FROM \(schema)subscriptions ORDER BY id"
        try reader.rows("subscriptions", subscriptions, [[]]) { row in
            try reading(.subscriptions, row.key(0)) { contents throws(StoreError) in
                contents.subscriptions.append(try SubscriptionRow.subscription(from: row))
            }
        }
    }
}

extension [String: String] {
    /// Adds a setting.
    mutating func add(_ row: some RowDecoder) {
        if let name = row.text(0), let value = row.text(1) { self[name] = value }
    }
}
