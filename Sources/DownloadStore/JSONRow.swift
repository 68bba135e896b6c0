internal import JSON
internal import System

/// Encodes a row as a JSON array of numbers, texts and nulls. Bytes are hexadecimal text.
struct JSONRowEncoder: RowEncoder {
    private var writer = JSONWriter()

    init() {
        writer.beginArray()
    }

    /// The encoded array.
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

/// Decodes a row that a ``JSONRowEncoder`` has encoded.
struct JSONRowDecoder: RowDecoder {
    private let values: [JSONValue]

    /// Parses the text; `nil` if it is not a JSON array.
    init?(_ text: String) {
        guard let values = (try? JSONValue(parsing: text.utf8))?.array else { return nil }
        self.values = values
    }

    /// Columns that a newer release has appended are ignored. Columns that an older release lacks are null.
    func value(_ column: Int32) -> JSONValue? {
        guard values.indices.contains(Int(column)), !values[Int(column)].isNull else { return nil }
        return values[Int(column)]
    }
}

extension JSONValue: ColumnValue {
    package var text: String? { string }
    package var blob: [UInt8]? { string.flatMap { Hexadecimal.decode($0.utf8) } }
}
