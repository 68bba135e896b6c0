internal import JSON
internal import System

/// A row as a JSON array: numbers, texts and nulls; bytes are hexadecimal text.
struct JSONRowEncoder: RowEncoder {
    private var writer = JSONWriter()

    init() {
        writer.beginArray()
    }

    /// The array.
    var text: String {
        var writer = writer
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    mutating func put(_ value: Int64?) throws(Never) {
        if let value { writer.value(value) } else { writer.null() }
    }

    mutating func put(_ value: String?) throws(Never) {
        if let value { writer.value(value) } else { writer.null() }
    }

    mutating func put(_ value: [UInt8]?) throws(Never) {
        if let value { writer.value(Hexadecimal.encode(value)) } else { writer.null() }
    }
}

/// Reads what a ``JSONRowEncoder`` has put together.
struct JSONRowDecoder: RowDecoder {
    private let values: [JSONValue]

    /// - Returns: `nil` if it is no array.
    init?(_ text: String) {
        guard let values = (try? JSONValue(parsing: text.utf8))?.array else { return nil }
        self.values = values
    }

    /// Columns that a newer release has appended are not asked for; those that an older one did not know are null.
    private func value(_ column: Int32) -> JSONValue {
        values.indices.contains(Int(column)) ? values[Int(column)] : .null
    }

    func isNull(_ column: Int32) -> Bool { value(column).isNull }
    func integer(_ column: Int32) -> Int64? { value(column).integer }
    func text(_ column: Int32) -> String? { value(column).string }
    func blob(_ column: Int32) -> [UInt8]? { value(column).string.flatMap { Hexadecimal.decode($0.utf8) } }
}
