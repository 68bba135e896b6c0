extension Fields {
    /// The first value of the name, or nil. Bytes that are not UTF-8 are read as ISO-8859-1.
    public subscript(_ name: FieldName) -> String? {
        bytes(name).map { String(fieldText: $0) }
    }

    /// The first value of the name as bytes, or nil. Allocates nothing.
    public func bytes(_ name: FieldName) -> ArraySlice<UInt8>? {
        guard traits & name.trait != 0 else { return nil }
        for index in entries.indices where matches(index, name) {
            return value(at: index)
        }
        return nil
    }

    /// The first value of the name as it was sent, or nil. It can be compared with another value or sent back.
    public func value(_ name: FieldName) -> FieldValue? {
        bytes(name).map { FieldValue(bytes: $0) }
    }

    /// All values of the name, in order.
    public func values(_ name: FieldName) -> [String] {
        guard traits & name.trait != 0 else { return [] }
        var result: [String] = []
        for index in entries.indices where matches(index, name) {
            result.append(String(fieldText: value(at: index)))
        }
        return result
    }

    /// All values of the name as one list, joined by `, `; nil if there is none (RFC 9110 §5.2).
    public func combined(_ name: FieldName) -> String? {
        let all = values(name)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// The numbers in all values of the name, in order. A value may be a list; nil if a member is not decimal digits
    /// only, or greater than `Int64.max`.
    public func numbers(_ name: FieldName) -> [Int64]? {
        var result: [Int64] = []
        guard traits & name.trait != 0 else { return result }
        for index in entries.indices where matches(index, name) {
            for member in value(at: index).split(separator: ASCII.comma, omittingEmptySubsequences: false) {
                guard let number = member.trimmingWhiteSpace.decimalValue else { return nil }
                result.append(number)
            }
        }
        return result
    }

    /// Whether a field has the name.
    public func contains(_ name: FieldName) -> Bool {
        guard traits & name.trait != 0 else { return false }
        for index in entries.indices where matches(index, name) {
            return true
        }
        return false
    }

    /// Whether the comma-separated list of the name has the member `token`, compared without case: RFC 9110 §5.6.1.
    /// `token` must be lowercase.
    public func contains(_ name: FieldName, token: String) -> Bool {
        for index in entries.indices where matches(index, name) {
            for member in ListMembers(value(at: index)) where member.equalsIgnoringCase(token) {
                return true
            }
        }
        return false
    }

    /// Appends all fields as `Name: value` CRLF.
    public func encode(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: lines)
    }

    /// The number of fields with the name.
    public func count(_ name: FieldName) -> Int {
        var result = 0
        for index in entries.indices where matches(index, name) { result += 1 }
        return result
    }

    func name(at index: Int) -> ArraySlice<UInt8> {
        let entry = entries[index]
        return lines[entry.nameStart..<entry.nameEnd]
    }

    func value(at index: Int) -> ArraySlice<UInt8> {
        let entry = entries[index]
        return lines[entry.valueStart..<entry.valueEnd]
    }

    func matches(_ index: Int, _ name: FieldName) -> Bool {
        let entry = entries[index]
        return lines.span.extracting(entry.nameStart..<entry.nameEnd).equalsIgnoringCase(name.canonical)
    }
}

extension Fields: RandomAccessCollection {
    /// One field of a section.
    public struct Field: Sendable {
        /// The name's bytes as sent or given.
        public let nameBytes: ArraySlice<UInt8>
        /// The value's bytes.
        public let valueBytes: ArraySlice<UInt8>

        /// The name as sent or given.
        public var name: String { String(fieldText: nameBytes) }
        /// The value; bytes that are not UTF-8 are read as ISO-8859-1.
        public var value: String { String(fieldText: valueBytes) }
    }

    /// The first position, 0.
    public var startIndex: Int { 0 }

    /// The number of fields. Repeated names count each time.
    public var endIndex: Int { entries.count }

    /// The field at the position, in the order of addition. Allocates nothing.
    public subscript(position: Int) -> Field {
        Field(nameBytes: name(at: position), valueBytes: value(at: position))
    }
}

extension Fields: Equatable {
    /// Whether both have the same fields in the same order. Names are compared without case, values byte by byte.
    public static func == (left: Fields, right: Fields) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.entries.indices {
            guard left.value(at: index) == right.value(at: index),
                left.name(at: index).lazy.map(ASCII.lowercased)
                    .elementsEqual(right.name(at: index).lazy.map(ASCII.lowercased))
            else { return false }
        }
        return true
    }
}

extension Fields: CustomStringConvertible {
    /// The section in its wire form, for debugging. It may contain secrets.
    public var description: String { String(fieldText: lines) }
}
