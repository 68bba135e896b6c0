internal import DownloadCore
internal import JSON
internal import Postgres
internal import System

/// Collects the parameters of a statement.
struct PostgresRowEncoder: RowEncoder {
    package private(set) var values: [PostgresValue] = []

    mutating func put(_ value: Int64?) throws(Never) {
        values.append(value.map(PostgresValue.integer) ?? .null)
    }

    mutating func put(_ value: String?) throws(Never) {
        values.append(value.map(PostgresValue.storable) ?? .null)
    }

    mutating func put(_ value: [UInt8]?) throws(Never) {
        values.append(value.map(PostgresValue.bytes) ?? .null)
    }
}

extension PostgresValue {
    static func id(_ id: RecordID) -> PostgresValue { .text(id.description) }

    static func storable(_ text: String) -> PostgresValue { .text(withoutNUL(text)) }

    /// Replaces NUL characters with U+FFFD, because PostgreSQL stores no text with NUL.
    fileprivate static func withoutNUL(_ text: String) -> String {
        hasNUL(text) ? String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })) : text
    }
}

/// Encodes a row as a JSON object for `json_populate_recordset`. Columns that are null are left out.
struct PostgresObjectEncoder: RowEncoder {
    private var writer = JSONWriter()
    private var names: ArraySlice<String>

    /// Begins an object.
    /// - Parameter names: The names of the columns, in the order of their values.
    init(_ names: [String]) {
        self.names = names[...]
        writer.beginObject()
    }

    /// Returns the complete object.
    /// - Parameter last: An additional column and its value.
    consuming func object(with last: (name: String, value: Bool)) -> [UInt8] {
        writer.name(last.name)
        writer.value(last.value)
        writer.endObject()
        return writer.bytes
    }

    mutating func put(_ value: Int64?) throws(Never) {
        let name = names.removeFirst()
        guard let value else { return }
        writer.name(name)
        writer.value(value)
    }

    mutating func put(_ value: String?) throws(Never) {
        let name = names.removeFirst()
        guard let value else { return }
        writer.name(name)
        writer.value(PostgresValue.withoutNUL(value))
    }

    mutating func put(_ value: [UInt8]?) throws(Never) {
        put(value.map { "\\x" + Hexadecimal.encode($0) })
    }
}

/// Reads the columns of a PostgreSQL row.
package struct PostgresRowDecoder: RowDecoder {
    let row: PostgresRow

    package func value(_ column: Int32) -> Value? {
        row.isNull(Int(column)) ? nil : Value(row: row, column: Int(column))
    }

    /// A value of a PostgreSQL row.
    package struct Value: ColumnValue {
        let row: PostgresRow
        let column: Int

        package var integer: Int64? { row.integer(column) }
        package var text: String? { row.text(column) }
        package var blob: [UInt8]? { row.bytes(column) }
    }
}
