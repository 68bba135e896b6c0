package import DownloadCore
internal import System

/// A row that cannot be decoded, because a column has a value that no release writes.
package struct RefusedRow: Sendable {
    /// The tables whose rows may be refused.
    package enum Table: String, Sendable {
        case downloads = "downloads"
        case events = "event_history"
        case keys = "idempotency_keys"
        case deliveries = "webhook_deliveries"
        case subscriptions = "subscriptions"

        /// The SQL condition that finds a row by its ``Key``. The key is bound as a blob even if it is a text, because
        /// it may be invalid UTF-8.
        package var condition: String { "\(key) = iif(?2, ?1, CAST(?1 AS TEXT))" }

        /// The column with the key of a row.
        package var key: String {
            switch self {
            case .downloads, .deliveries, .subscriptions: "id"
            case .events: "number"
            case .keys: "key"
            }
        }
    }

    /// The key of a row as it is stored. Another program may have written any type and any bytes.
    package struct Key: Sendable, Hashable, CustomStringConvertible {
        var isBlob = false
        /// The bytes of the blob or text; the digits of a number.
        package let bytes: [UInt8]

        /// The key for a log line: quoted text without control characters, or else a blob in SQL's notation. Limited to
        /// the first 64 bytes.
        package var description: String {
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

    package let table: Table
    package let key: Key
    /// The defect, in one line that names the row and the column.
    package let reason: String

    package init(table: Table, key: Key, reason: String) {
        self.table = table
        self.key = key
        // The reason of a download's row names the download already.
        self.reason = table == .downloads ? reason : "\(reason) (\(table.key) \(key))"
    }

    /// The id of the download; `nil` if the row is of another table or its id is invalid.
    package var id: RecordID? { table == .downloads ? RecordID(parsing: key.bytes[...]) : nil }

    /// The maximum number of rows of a table that have a log line each.
    private static let tellable = 20

    /// Returns a log line for each of the first rows of a table, and one line with the number of the other rows.
    package static func lines(for rows: [RefusedRow]) -> [String] {
        Dictionary(grouping: rows, by: \.table).sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { table, rows in
            rows.prefix(tellable).map { "a record is refused, and left as it is: \($0.reason); pawl check --repair repairs it" }
                + (rows.count > tellable
                    ? ["\(rows.count - tellable) more rows of \(table.rawValue) are refused; pawl check names them"] : [])
        }
    }
}

extension StoredContents {
    /// The newest id of all records, including refused ones; `nil` if there are none.
    package var newestID: RecordID? {
        (refused.lazy.compactMap(\.id).filter(\.isPlausible) + [records.last?.id].compactMap(\.self)).max()
    }

    /// Reads a row, or adds it to the refused rows if it is damaged.
    /// - Parameter key: The key of the row.
    package mutating func reading(
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
