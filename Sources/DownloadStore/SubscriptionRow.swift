internal import DownloadCore

/// The row of a subscription.
enum SubscriptionRow {
    static let saveStatement =
        "INSERT INTO subscriptions (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body"

    /// Reads all subscriptions, oldest first. Only a fleet needs their versions.
    static let loadStatement = """
        SELECT id, body, 0, (
            SELECT group_concat(state || ' ' || number, ' ') FROM (
                SELECT state, count(*) AS number FROM subscription_items WHERE subscription = subscriptions.id GROUP BY state))
            FROM subscriptions ORDER BY id
        """

    /// The columns that a fleet reads.
    static let fleetColumns = "id, body, version, pawl.item_counts(id)"

    /// Encodes a subscription for `saveStatement`.
    static func encode<Row: RowEncoder>(_ subscription: StoredSubscription, to row: inout Row) throws(Row.Failure) {
        try row.put(subscription.id.description)
        try row.put(String(decoding: subscription.body, as: UTF8.self))
    }

    /// Decodes the subscription in the current row of `loadStatement`.
    /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
    static func subscription(from row: some RowDecoder) throws(StoreError) -> StoredSubscription {
        guard let id = row.text(0).flatMap(DownloadID.init), let body = row.text(1) else {
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
    private static let columns = "subscription, key, date, state, reason, url, download, is_made, is_by_hand"

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

    /// Returns the statement for a query, with the parameters of ``encode(_:to:)-query``.
    /// - Parameter schema: The prefix of the table's name.
    static func statement(for query: ItemQuery, schema: String) -> String {
        var count = 0
        func next(_ type: String = "") -> String {
            count += 1
            return "$\(count)\(schema.isEmpty ? "" : type)"
        }
        var conditions: [String] = []
        if query.subscription != nil { conditions.append("subscription = \(next())") }
        if query.download != nil { conditions.append("download = \(next())") }
        if query.key != nil { conditions.append("key = \(next())") }
        if !query.states.isEmpty {
            conditions.append("state IN (\(query.states.map { _ in next() }.joined(separator: ", ")))")
        }
        if query.after != nil { conditions.append("(date, key) < (\(next("::bigint")), \(next()))") }
        return "SELECT \(columns), \(query.includesBodies ? "body" : "''") FROM \(schema)subscription_items "
            + "WHERE \(conditions.joined(separator: " AND ")) ORDER BY date DESC, key DESC LIMIT \(next("::bigint"))"
    }

    /// Returns the name of the statement for a query, which is the same for all queries of its shape.
    static func name(for query: ItemQuery) -> String {
        "items_\(query.subscription == nil ? 0 : 1)_\(query.download == nil ? 0 : 1)_\(query.key == nil ? 0 : 1)_\(query.states.count)_\(query.after == nil ? 0 : 1)_\(query.includesBodies ? 1 : 0)"
    }

    /// Encodes the parameters of the statement for a query.
    static func encode<Row: RowEncoder>(_ query: ItemQuery, to row: inout Row) throws(Row.Failure) {
        if let subscription = query.subscription { try row.put(subscription.description) }
        if let download = query.download { try row.put(download.description) }
        if let key = query.key { try row.put(key) }
        for state in query.states { try row.put(state) }
        if let after = query.after {
            try row.put(after.date)
            try row.put(after.key)
        }
        try row.put(Int64(query.limit))
    }

    /// Decodes the item in the current row of the statement for a query; `nil` if a column has a value that no release
    /// writes.
    static func item(from row: some RowDecoder) -> StoredItem? {
        guard let subscription = row.text(0).flatMap(DownloadID.init), let key = row.text(1), let date = row.integer(2),
            let state = row.text(3), let body = row.text(9)
        else { return nil }
        return StoredItem(
            subscription: subscription, key: key, date: date, state: state, reason: row.text(4), url: row.text(5),
            download: row.text(6).flatMap(DownloadID.init), isMade: row.integer(7) == 1, isByHand: row.integer(8) == 1,
            body: Array(body.utf8))
    }
}
