internal import JSON

/// Reads the parameters of a call, and refuses what aria2 refuses, with aria2's messages.
struct RPCParameters {
    private let values: [JSONValue]

    init(_ values: [JSONValue]) {
        self.values = values
    }

    /// An optional parameter; `null` is refused.
    private func value<Value>(_ index: Int, _ read: (JSONValue) -> Value?) throws(RPCError) -> Value? {
        guard index < values.count else { return nil }
        guard let value = read(values[index]) else { throw .hasWrongType(index) }
        return value
    }

    private func required<Value>(_ index: Int, _ value: Value?) throws(RPCError) -> Value {
        guard let value else { throw .isMissing(index) }
        return value
    }

    func string(_ index: Int) throws(RPCError) -> String {
        try required(index, try value(index, \.string))
    }

    func integer(_ index: Int) throws(RPCError) -> Int {
        try required(index, try value(index, Self.integer))
    }

    func integer(_ index: Int, atLeast least: Int) throws(RPCError) -> Int {
        let value = try integer(index)
        guard value >= least else { throw .isLess(index, than: least) }
        return value
    }

    /// A position in a queue or list; `nil` for the end.
    func position(_ index: Int) throws(RPCError) -> Int? {
        guard let value = try value(index, Self.integer) else { return nil }
        guard value >= 0 else { throw RPCError("Position must be greater than or equal to 0.") }
        return value
    }

    /// The strings of a list; other elements are ignored.
    func strings(_ index: Int) throws(RPCError) -> [String] {
        try required(index, try optionalStrings(index))
    }

    func optionalStrings(_ index: Int) throws(RPCError) -> [String]? {
        try value(index, \.array).map { $0.compactMap(\.string) }
    }

    func list(_ index: Int) throws(RPCError) -> [JSONValue] {
        try required(index, try value(index, \.array))
    }

    func members(_ index: Int) throws(RPCError) -> [JSONMember] {
        try required(index, try optionalMembers(index))
    }

    func optionalMembers(_ index: Int) throws(RPCError) -> [JSONMember]? {
        try value(index, \.members)
    }

    func keys(_ index: Int) throws(RPCError) -> StatusKeys {
        try value(index, \.array).map(StatusKeys.init) ?? .all
    }

    /// A whole number; like aria2, drops a fraction.
    private static func integer(_ value: JSONValue) -> Int? {
        if let integer = value.integer { return Int(clamping: integer) }
        guard let number = value.number, abs(number) < 0x1p62 else { return nil }
        return Int(number)
    }
}

/// A gid as clients write it: 16 hexadecimal digits, or a unique prefix of them.
struct GIDPrefix: Sendable, Equatable {
    /// The digits as a number.
    let value: UInt64
    /// The number of digits, 1…16.
    let digits: Int

    init(parsing text: String) throws(RPCError) {
        let digits = text.utf8.count
        guard (1...16).contains(digits), text.utf8.allSatisfy(Self.isHexadecimal), let value = UInt64(text, radix: 16) else {
            throw RPCError("Invalid GID \(text.prefix(64))")
        }
        self.value = value
        self.digits = digits
    }

    /// `UInt64` would accept a sign.
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}

/// A section of a list, by an offset and a count. A negative offset counts from the end, where −1 is the last, and
/// reverses the order.
struct ListWindow: Sendable, Equatable {
    /// The indices of the section.
    let range: Range<Int>
    /// Whether the section is listed in reverse.
    let isBackwards: Bool

    init(offset: Int, count: Int, of total: Int) {
        isBackwards = offset < 0
        if offset >= 0 {
            let start = min(offset, total)
            range = start..<start + min(count, total - start)
        } else {
            let end = total + 1 + max(offset, -total - 1)
            range = max(end - count, 0)..<end
        }
    }
}
