internal import HTTPCore
internal import Postgres

extension PostgresStatement {
    /// Creates a statement from an embedded SQL file.
    /// - Parameters:
    ///   - columns: The names for `{columns}` in the file.
    ///   - parts: Other texts, by their names in braces.
    package init(_ name: String, file: [UInt8], columns: [String] = [], _ parts: [String: String] = [:]) {
        var sql = String(decoding: file, as: UTF8.self)
        for (part, text) in parts { sql = sql.replacing("{\(part)}", with: text) }
        self.init(name, sql.replacing("{columns}", with: columns.joined(separator: ", ")))
    }
}
