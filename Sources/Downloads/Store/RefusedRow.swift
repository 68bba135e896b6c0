internal import System

/// A row that cannot be read, as a column holds what was never written there.
struct RefusedRow: Sendable {
    /// The tables that have such rows.
    enum Table: String, Sendable {
        case downloads = "downloads"
        case events = "event_history"
        case keys = "idempotency_keys"
        case deliveries = "webhook_deliveries"

        /// Finds a row by its ``Key``. A text may be none that UTF-8 allows, and is bound as a blob, too.
        var condition: String { "\(key) = iif(?2, ?1, CAST(?1 AS TEXT))" }

        /// The column that names a row.
        var key: String {
            switch self {
            case .downloads, .deliveries: "id"
            case .events: "number"
            case .keys: "key"
            }
        }
    }

    /// The key of a row as stored. Another program may have written any type and any bytes.
    struct Key: Sendable, Hashable, CustomStringConvertible {
        var isBlob = false
        /// The bytes of the blob or the text; for a number, its digits.
        let bytes: [UInt8]

        /// The key for a log line: quoted text without control characters, or else a blob in SQL's notation. It has 64 bytes of the key at most.
        var description: String {
            let start = bytes.prefix(64)
            let end = start.count < bytes.count ? "…" : ""
            let text = isBlob ? nil : String(validating: start, as: UTF8.self)
            if let text, !text.unicodeScalars.contains(where: Self.isUnprintable) { return "'\(text)\(end)'" }
            return "x'\(Hexadecimal.encode(Array(start)))\(end)'"
        }

        private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }

    let table: Table
    let key: Key
    /// What is wrong: one line that names the row and the column.
    let reason: String

    init(table: Table, key: Key, reason: String) {
        self.table = table
        self.key = key
        // That of a record names the download.
        self.reason = table == .downloads ? reason : "\(reason) (\(table.key) \(key))"
    }

    /// The download, if it is one's record and the identity can be read.
    var id: DownloadID? { table == .downloads ? DownloadID(parsing: key.bytes[...]) : nil }

    /// The most rows of a table that have a log line each.
    private static let tellable = 20

    /// Log lines for rows: one for each of the first rows of a table, and one with the number of the others.
    static func lines(for rows: [RefusedRow]) -> [String] {
        Dictionary(grouping: rows, by: \.table).sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { table, rows in
            rows.prefix(tellable).map { "a record is refused, and left as it is: \($0.reason); pawl check --repair repairs it" }
                + (rows.count > tellable
                    ? ["\(rows.count - tellable) more rows of \(table.rawValue) are refused; pawl check names them"] : [])
        }
    }
}

extension StoredContents {
    /// The newest identity that belongs to a record, whether it can be read or not.
    var newestID: DownloadID? {
        (refused.lazy.compactMap(\.id).filter(\.isPlausible) + [records.last?.id].compactMap(\.self)).max()
    }

    /// Reads a row, or refuses it.
    /// - Parameter key: what names the row.
    mutating func reading(
        _ table: RefusedRow.Table, _ key: @autoclosure () -> RefusedRow.Key,
        _ read: (inout StoredContents) throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try read(&self)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            refused.append(RefusedRow(table: table, key: key(), reason: reason))
        }
    }
}
