/// A row that cannot be read, as a column holds what was never written there.
struct RefusedRow: Sendable {
    /// The tables that have such rows.
    enum Table: String, Sendable {
        case downloads = "downloads"
        case events = "event_history"
        case keys = "idempotency_keys"
        case deliveries = "webhook_deliveries"

        /// The column that names a row.
        var key: String {
            switch self {
            case .downloads, .deliveries: "id"
            case .events: "number"
            case .keys: "key"
            }
        }
    }

    let table: Table
    /// What names the row, as text.
    let key: String
    /// What is wrong: one line that names the row and the column.
    let reason: String

    /// The download, if it is one's record and the identity can be read.
    var id: DownloadID? { table == .downloads ? DownloadID(key) : nil }
}

extension StoredContents {
    /// The newest identity that belongs to a record, whether it can be read or not.
    var newestID: DownloadID? {
        (refused.lazy.compactMap(\.id).filter(\.isPlausible) + [records.last?.id].compactMap(\.self)).max()
    }

    /// Reads a row, or refuses it.
    /// - Parameter key: what names the row.
    mutating func reading(
        _ table: RefusedRow.Table, _ key: @autoclosure () -> String?, _ read: (inout StoredContents) throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try read(&self)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            refused.append(RefusedRow(table: table, key: key() ?? "", reason: reason))
        }
    }
}
