/// Encodes the values of a row, one after another in the order of its columns.
protocol RowEncoder {
    associatedtype Failure: Error

    mutating func put(_ value: Int64?) throws(Failure)
    mutating func put(_ value: String?) throws(Failure)
    mutating func put(_ value: [UInt8]?) throws(Failure)
}

/// A row that was read. Columns count from 0.
package protocol RowDecoder {
    associatedtype Value: ColumnValue

    /// Returns a column's value; `nil` for null.
    func value(_ column: Int32) -> Value?
    /// Returns the key of a row, which may have any type.
    func key(_ column: Int32) -> RefusedRow.Key
}

/// A value in a row. Each of its properties is `nil` if the value has another type, or is text that is not UTF-8.
package protocol ColumnValue {
    var integer: Int64? { get }
    var text: String? { get }
    var blob: [UInt8]? { get }
}

extension RowDecoder {
    package func isNull(_ column: Int32) -> Bool { value(column) == nil }
    package func integer(_ column: Int32) -> Int64? { value(column)?.integer }
    package func text(_ column: Int32) -> String? { value(column)?.text }
    package func blob(_ column: Int32) -> [UInt8]? { value(column)?.blob }
    package func key(_ column: Int32) -> RefusedRow.Key { RefusedRow.Key(bytes: Array((text(column) ?? "").utf8)) }
}

/// Binds the values of a row to consecutive parameters of a statement.
struct SQLiteRowEncoder: RowEncoder {
    private let statement: SQLiteStatement
    private var index: Int32 = 0

    fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }

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

extension SQLiteStatement {
    /// Runs the statement with the values of a row.
    func run<Value>(
        _ value: Value, _ encode: (Value, inout SQLiteRowEncoder) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        var row = SQLiteRowEncoder(self)
        try encode(value, &row)
        try run()
    }

    /// Runs the statement with one or two texts.
    func run(_ first: String, _ second: String? = nil) throws(SQLiteError) {
        try bind(1, first)
        try bind(2, second)
        try run()
    }
}
