import HTTPCore
import JSON

/// A message to a webhook as a row of the table, and back.
enum DeliveryRow {
    static let saveStatement = """
        REPLACE INTO webhook_deliveries (id, download_id, url, download, attempts, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let loadStatement =
        "SELECT id, url, download, attempts, due_at FROM webhook_deliveries ORDER BY id"

    /// Binds a message to `saveStatement`.
    static func bind(_ delivery: WebhookDelivery, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, delivery.id.description)
        try statement.bind(2, delivery.download.id.description)
        try statement.bind(3, delivery.url)
        try statement.bind(4, DownloadSnapshot.encode(delivery.download).serialized())
        try statement.bind(5, Int64(delivery.attempts))
        try statement.bind(6, delivery.due.millisecondsSinceEpoch)
    }

    /// The message in the current row of `loadStatement`.
    ///
    /// - Throws: `StoreError.damaged` if a column holds what was never written there.
    static func delivery(from row: SQLiteStatement) throws(StoreError) -> WebhookDelivery {
        guard let id = row.text(0).flatMap(DownloadID.init), let url = row.text(1),
            let snapshot = row.blob(2).flatMap({ try? JSONValue(parsing: $0) }), let download = DownloadSnapshot.decode(snapshot)
        else { throw .damaged("a message to a webhook cannot be read") }
        return WebhookDelivery(
            id: id, url: url, download: download, attempts: Int(clamping: row.integer(3)),
            due: Timestamp(millisecondsSinceEpoch: row.integer(4)))
    }
}
