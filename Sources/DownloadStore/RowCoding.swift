/// Encodes the values of a row, one after another in the order of its columns.
protocol RowEncoder {
    associatedtype Failure: Error

    mutating func put(_ value: Int64?) throws(Failure)
    mutating func put(_ value: String?) throws(Failure)
    mutating func put(_ value: [UInt8]?) throws(Failure)
}

/// A row that was read. Columns count from 0. A value of another type than the requested one is `nil`, like null and
/// text that is not UTF-8.
protocol RowDecoder {
    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64?
    func text(_ column: Int32) -> String?
    func blob(_ column: Int32) -> [UInt8]?
    /// Returns the key of a row, whatever its type.
    func key(_ column: Int32) -> RefusedRow.Key
}

extension RowDecoder {
    package func key(_ column: Int32) -> RefusedRow.Key { RefusedRow.Key(bytes: Array((text(column) ?? "").utf8)) }
}

/// Binds the values of a row to consecutive parameters of a statement.
struct SQLiteRowEncoder: RowEncoder {
    private let statement: SQLiteStatement
    private var index: Int32 = 0

    init(_ statement: SQLiteStatement) { self.statement = statement }

    mutating func put(_ value: Int64?) throws(SQLiteError) {
        index += 1
        try statement.bind(index, value)
    }

    mutating func put(_ value: String?) throws(SQLiteError) {
        index += 1
        try statement.bind(index, value)
    }

    mutating func put(_ value: [UInt8]?) throws(SQLiteError) {
        index += 1
        try statement.bind(index, value)
    }
}

extension SQLiteStatement: RowDecoder {}
