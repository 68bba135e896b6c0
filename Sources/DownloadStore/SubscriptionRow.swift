package import DownloadCore

/// The row of a subscription.
enum SubscriptionRow {
    static let saveStatement =
        "INSERT INTO subscriptions (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body"

    /// The columns in SQLite. Only a fleet needs versions.
    static let columns = """
        id, body, 0, (
            SELECT group_concat(state || ' ' || number, ' ') FROM (
                SELECT state, count(*) AS number FROM subscription_items WHERE subscription = subscriptions.id GROUP BY state))
        """

    /// The columns in PostgreSQL.
    static let fleetColumns = "id, body, version, pawl.item_counts(id)"

    /// Encodes a subscription for `saveStatement`.
    static func encode<Row: RowEncoder>(_ subscription: StoredSubscription, to row: inout Row) throws(Row.Failure) {
        try row.put(subscription.id.description)
        try row.put(String(decoding: subscription.body, as: UTF8.self))
    }

    /// Decodes the subscription in a row of `columns`.
    /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
    static func subscription(from row: some RowDecoder) throws(StoreError) -> StoredSubscription {
        guard let id = row.text(0).flatMap(RecordID.init), let body = row.text(1) else {
            throw .damaged("a subscription cannot be read")
        }
        let counts = (row.text(3) ?? "").split(separator: " ")
        let numbers = stride(from: 0, to: counts.count - counts.count % 2, by: 2).map {
            (String(counts[$0]), Int(counts[$0 + 1]) ?? 0)
        }
        var stored = StoredSubscription(id: id, body: Array(body.utf8), version: row.integer(2) ?? 0)
        stored.items = Dictionary(numbers) { $1 }
        return stored
    }
}

/// The row of an item of a subscription.
enum ItemRow {
    fileprivate static let columns = "subscription, key, date, state, reason, url, download, is_made, is_by_hand"

    static let saveStatement = """
        INSERT INTO subscription_items (\(columns), body)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 WHERE EXISTS (SELECT 1 FROM subscriptions WHERE id = ?1)
            ON CONFLICT (subscription, key) DO UPDATE SET
                date = excluded.date, state = excluded.state, reason = excluded.reason, url = excluded.url,
                download = excluded.download, is_made = excluded.is_made, is_by_hand = excluded.is_by_hand,
                body = CASE WHEN excluded.body = '' THEN subscription_items.body ELSE excluded.body END
        """

    /// Removes some items of the first subscription that is not there any more. Finds it by one look at the index for each
    /// subscription.
    static let dropOrphansStatement = """
        DELETE FROM subscription_items WHERE rowid IN (
            SELECT rowid FROM subscription_items WHERE subscription = (
                WITH RECURSIVE owners (id) AS (
                    SELECT min(subscription) FROM subscription_items
                    UNION ALL
                    SELECT (SELECT min(subscription) FROM subscription_items WHERE subscription > owners.id)
                        FROM owners WHERE owners.id IS NOT NULL)
                SELECT id FROM owners WHERE id NOT IN (SELECT id FROM subscriptions) LIMIT 1)
            LIMIT 250)
        """

    /// Encodes an item for `saveStatement`.
    static func encode<Row: RowEncoder>(_ item: StoredItem, to row: inout Row) throws(Row.Failure) {
        try row.put(item.subscription.description)
        try row.put(item.key)
        try row.put(item.date)
        try row.put(item.state)
        try row.put(item.reason)
        try row.put(item.url)
        try row.put(item.download?.description)
        try row.put(item.isMade ? 1 : 0 as Int64)
        try row.put(item.isByHand ? 1 : 0 as Int64)
        try row.put(String(decoding: item.body, as: UTF8.self))
    }

    /// Decodes an item; `nil` if a column has a value that no release writes.
    @specialized(where Row == SQLiteStatement)
    fileprivate static func item<Row: RowDecoder>(from row: Row) -> StoredItem? {
        guard let subscription = row.text(0).flatMap(RecordID.init), let key = row.text(1), let date = row.integer(2),
            let state = row.text(3), let body = row.text(9)
        else { return nil }
        return StoredItem(
            subscription: subscription, key: key, date: date, state: state, reason: row.text(4), url: row.text(5),
            download: row.text(6).flatMap(RecordID.init), isMade: row.integer(7) == 1, isByHand: row.integer(8) == 1,
            body: Array(body.utf8))
    }
}

extension StoreReader {
    /// Returns a subscription; `nil` if there is none.
    package func subscription(_ id: RecordID) throws(StoreError) -> StoredSubscription? {
        var found: StoredSubscription?
        let sql = "SELECT \(dialect.subscriptionColumns) FROM \(dialect.schema)subscriptions WHERE id = $1"
        try rows("subscription", sql, [[id.description]]) { found = try SubscriptionRow.subscription(from: $0) }
        return found
    }

    /// Returns items of subscriptions.
    package func items(_ query: ItemQuery) throws(StoreError) -> [StoredItem] {
        var conditions: [String] = []
        var parameters: [String] = []
        func next(_ value: some CustomStringConvertible) -> String {
            parameters.append(value.description)
            return "$\(parameters.count)"
        }
        if let id = query.subscription { conditions.append("subscription = \(next(id))") }
        if let id = query.download { conditions.append("download = \(next(id))") }
        if let key = query.key { conditions.append("key = \(next(key))") }
        if !query.states.isEmpty { conditions.append("state IN (\(query.states.map(next).joined(separator: ", ")))") }
        if let after = query.after {
            conditions.append("(date, key) < (CAST(\(next(after.date)) AS bigint), \(next(after.key)))")
        }
        let sql = """
            SELECT \(ItemRow.columns), \(query.includesBodies ? "body" : "''") FROM \(dialect.schema)subscription_items
                WHERE \(conditions.joined(separator: " AND ")) ORDER BY date DESC, key DESC LIMIT CAST(\(next(query.limit)) AS bigint)
            """
        // Equal for all queries with the same statement.
        let name = "items \(query.includesBodies) \(parameters.count) \(conditions.map { $0.prefix(4) }.joined())"
        var items: [StoredItem] = []
        try rows(name, sql, [parameters]) { row in
            if let item = ItemRow.item(from: row) { items.append(item) }
        }
        return items
    }
}
