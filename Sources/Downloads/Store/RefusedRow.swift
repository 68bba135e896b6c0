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

    /// What names a row, as it is stored: another hand may have written anything there.
    struct Key: Sendable, Hashable, CustomStringConvertible {
        var isBlob = false
        /// Those of the blob or of the text; a number's are its digits.
        let bytes: [UInt8]

        /// What people find the row by: a quoted text without control characters, or else a blob as SQL has it; not longer than a line.
        var description: String {
            let start = bytes.prefix(64)
            let end = start.count < bytes.count ? "…" : ""
            let text = isBlob ? nil : String(validating: start, as: UTF8.self)
            if let text, !text.unicodeScalars.contains(where: Self.isUnprintable) { return "'\(text)\(end)'" }
            return "x'\(Hexadecimal.encode(start))\(end)'"
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

    /// As many rows of a table are told of one by one.
    private static let tellable = 20

    /// What a log tells of rows: a line for each of the first ones of a table, and one for the others.
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
