internal import Postgres

/// Gathers the parameters of a statement.
struct PostgresRowEncoder: RowEncoder {
    private(set) var values: [PostgresValue] = []

    mutating func put(_ value: Int64?) throws(Never) {
        values.append(value.map(PostgresValue.integer) ?? .null)
    }

    mutating func put(_ value: String?) throws(Never) {
        guard let value else { return values.append(.null) }
        // PostgreSQL keeps no text with a NUL in it.
        let text =
            PostgresValue.hasNUL(value)
            ? String(String.UnicodeScalarView(value.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })) : value
        values.append(.text(text))
    }

    mutating func put(_ value: [UInt8]?) throws(Never) {
        values.append(value.map(PostgresValue.bytes) ?? .null)
    }
}

/// A row of a result as the rows' readers want it.
struct PostgresRowDecoder: RowDecoder {
    let row: PostgresRow

    func isNull(_ column: Int32) -> Bool { row.isNull(Int(column)) }
    func integer(_ column: Int32) -> Int64 { row.integer(Int(column)) ?? 0 }
    func text(_ column: Int32) -> String? { row.text(Int(column)) }
    func blob(_ column: Int32) -> [UInt8]? { row.bytes(Int(column)) }
}
