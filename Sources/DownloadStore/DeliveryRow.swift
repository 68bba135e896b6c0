package import DownloadCore
internal import HTTPCore

/// Webhook deliveries that were read together.
package struct DeliveryPage: Sendable {
    /// The wanted deliveries, in order of their ids.
    package var deliveries: [WebhookDelivery] = []
    /// The id of the last row that was read.
    package var last: RecordID?
    /// Wanted rows that cannot be decoded.
    package var refused: [RefusedRow] = []
    /// The number of rows that were read.
    package var rows = 0

    /// The id from which to read on; `nil` if there are no more rows.
    package var next: RecordID? {
        guard rows >= DeliveryRow.pageSize, let last, last.value < .max else { return nil }
        return RecordID(value: last.value + 1)
    }
}

/// The webhook deliveries that are not finished.
package struct DeliveryBacklog: Sendable, Equatable {
    /// Their number.
    package var count: Int64 = 0
    /// The first of them; `nil` if there are none.
    package var oldest: RecordID?
}

/// The row of a webhook delivery.
enum DeliveryRow {
    static let saveStatement = """
        INSERT INTO webhook_deliveries (id, subject, url, body, attempts, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (id) DO UPDATE SET
                subject = excluded.subject, url = excluded.url, body = excluded.body, attempts = excluded.attempts,
                due_at = excluded.due_at
        """
    /// The maximum number of rows of a page.
    static let pageSize = 1_000
    static let columns = "id, url, subject, body, attempts, due_at"
    static let loadStatement = "SELECT \(columns) FROM webhook_deliveries ORDER BY id"

    /// Encodes a delivery for `saveStatement`.
    static func encode<Row: RowEncoder>(_ delivery: WebhookDelivery, to row: inout Row) throws(Row.Failure) {
        try row.put(delivery.id.description)
        try row.put(delivery.subject?.description)
        try row.put(delivery.url)
        try row.put(delivery.body)
        try row.put(Int64(delivery.attempts))
        try row.put(delivery.due.millisecondsSinceEpoch)
    }

    /// Decodes the delivery in a row of `columns`.
    ///
    /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
    static func delivery(from row: some RowDecoder) throws(StoreError) -> WebhookDelivery {
        guard let id = row.text(0).flatMap(RecordID.init), let url = row.text(1),
            let body = row.blob(3), let attempts = row.integer(4), (0...(1 << 31)).contains(attempts), let due = row.integer(5)
        else { throw .damaged("a message to a webhook cannot be read") }
        return WebhookDelivery(
            id: id, url: url, subject: row.text(2).flatMap(RecordID.init), body: body, attempts: Int(clamping: attempts),
            due: Timestamp(millisecondsSinceEpoch: due))
    }
}

extension StoreReader {
    /// Returns a page of the webhook deliveries of this service whose ids are at least `id` and whose URLs are wanted.
    package func deliveries(from id: RecordID, if isWanted: (String) -> Bool) throws(StoreError) -> DeliveryPage {
        var page = DeliveryPage()
        let sql = """
            SELECT \(DeliveryRow.columns) FROM \(dialect.schema)webhook_deliveries WHERE \(dialect.isOwn) AND id >= $1
                ORDER BY id LIMIT \(DeliveryRow.pageSize)
            """
        try rows("deliveries", sql, [[id.description]]) { row in
            page.rows += 1
            if let id = row.text(0).flatMap(RecordID.init) { page.last = id }
            guard row.text(1).map(isWanted) ?? true else { return }
            do throws(StoreError) {
                page.deliveries.append(try DeliveryRow.delivery(from: row))
            } catch {
                guard case .damaged(let reason) = error else { return }
                page.refused.append(RefusedRow(table: .deliveries, key: row.key(0), reason: reason))
            }
        }
        return page
    }

    /// Returns the number and age of the webhook deliveries of this service.
    package func backlog() throws(StoreError) -> DeliveryBacklog {
        var backlog = DeliveryBacklog()
        let sql = "SELECT count(*), min(id) FROM \(dialect.schema)webhook_deliveries WHERE \(dialect.isOwn)"
        try rows("backlog", sql, [[]]) { row in
            backlog = DeliveryBacklog(count: row.integer(0) ?? 0, oldest: row.text(1).flatMap(RecordID.init))
        }
        return backlog
    }
}
