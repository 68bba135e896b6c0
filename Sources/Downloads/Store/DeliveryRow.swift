import HTTPCore
import JSON

/// A message to a webhook as a row of the table, and back.
enum DeliveryRow {
    static let saveStatement = """
        REPLACE INTO webhook_deliveries (id, download_id, url, download, attempts, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let loadStatement =
        "SELECT id, url, download, attempts, due_at FROM webhook_deliveries ORDER BY id"

    /// Puts a message into a row of `saveStatement`.
    static func encode<Row: RowEncoder>(_ delivery: WebhookDelivery, to row: inout Row) throws(Row.Failure) {
        try row.put(delivery.id.description)
        try row.put(delivery.download.id.description)
        try row.put(delivery.url)
        try row.put(DownloadSnapshot.encode(delivery.download).serialized())
        try row.put(Int64(delivery.attempts))
        try row.put(delivery.due.millisecondsSinceEpoch)
    }

    /// The message in the current row of `loadStatement`.
    ///
    /// - Throws: `StoreError.damaged` if a column holds what was never written there.
    static func delivery(from row: some RowDecoder) throws(StoreError) -> WebhookDelivery {
        guard let id = row.text(0).flatMap(DownloadID.init), let url = row.text(1),
            let snapshot = row.blob(2).flatMap({ try? JSONValue(parsing: $0) }), let download = DownloadSnapshot.decode(snapshot)
        else { throw .damaged("a message to a webhook cannot be read") }
        return WebhookDelivery(
            id: id, url: url, download: download, attempts: Int(clamping: row.integer(3)),
            due: Timestamp(millisecondsSinceEpoch: row.integer(4)))
    }
}
