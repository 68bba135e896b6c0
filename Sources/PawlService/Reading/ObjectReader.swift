internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import System

/// Takes the members of a JSON object one by one. Refuses members of a wrong type and members that were not taken. A
/// member that is `null` counts as absent.
struct ObjectReader {
    private var members: [JSONMember]
    private var known: [String] = []
    /// The prefix of member names in refusals, such as `downloads[3].`.
    let prefix: String

    /// Reads an object.
    init(_ value: JSONValue, prefix: String = "") throws(Problem) {
        guard let members = value.members else {
            let place = prefix.isEmpty ? "the body" : "'\(prefix.dropLast())'"
            throw Problem(.invalidRequest, "\(place) must be a JSON object, not \(value.typeName)")
        }
        self.members = members
        self.prefix = prefix
    }

    /// Whether the member is present and not `null`.
    func holds(_ name: String) -> Bool {
        members.contains { $0.name.isExactly(name) && !$0.value.isNull }
    }

    /// Whether the member is present and `null`. It is not known once it has been taken.
    func isNull(_ name: String) -> Bool {
        members.contains { $0.name.isExactly(name) && $0.value.isNull }
    }

    mutating func value(_ name: String) -> JSONValue? {
        known.append(name)
        guard let index = members.firstIndex(where: { $0.name.isExactly(name) }) else { return nil }
        let value = members.remove(at: index).value
        return value.isNull ? nil : value
    }

    mutating func string(_ name: String, limit: Int = 8192) throws(Problem) -> String? {
        guard let value = value(name) else { return nil }
        guard let string = value.string else { throw mismatch(name, value, "a string") }
        return try check(string, name, limit)
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.bool else { throw mismatch(name, value, "true or false") }
        return bool
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        try integer(name, in: Int64(range.lowerBound)...Int64(range.upperBound)).map { Int($0) }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = value(name) else { return nil }
        let accepted =
            range.upperBound == Int64.max
            ? "a whole number, \(range.lowerBound) or more" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        // RFC 8259 §6 has one kind of number, so 1.0 is a whole number.
        guard let integer = value.integer ?? value.number.flatMap({ Int64(exactly: $0) }) else {
            throw mismatch(name, value, accepted)
        }
        guard range.contains(integer) else {
            throw Problem(.invalidRequest, "'\(prefix)\(name)' is \(integer); it takes \(accepted)")
        }
        return integer
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(Problem) -> Choice? {
        guard let text = try string(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let names = type.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidRequest, "'\(prefix)\(name)' is '\(text)'; it takes one of \(names)")
        }
        return choice
    }

    mutating func strings(_ name: String, count: Int, limit: Int) throws(Problem) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let items = value.array else { throw mismatch(name, value, "an array of strings") }
        guard items.count <= count else {
            throw Problem(.invalidRequest, "'\(prefix)\(name)' has \(items.count) items; it takes at most \(count)")
        }
        var strings: [String] = []
        for (index, item) in items.enumerated() {
            let place = "\(name)[\(index)]"
            guard let string = item.string else { throw mismatch(place, item, "a string") }
            strings.append(try check(string, place, limit))
        }
        return strings
    }

    /// Refuses members that were not taken.
    func finish() throws(Problem) {
        guard !members.isEmpty else { return }
        let accepted = known.isEmpty ? "this object takes no members" : "accepted members: " + known.joined(separator: ", ")
        let names = members.prefix(8).map { "'\(prefix)\($0.name.prefix(64))'" }
        let more = members.count > names.count ? " and \(members.count - names.count) more" : ""
        throw Problem(
            .invalidRequest,
            "unknown member\(members.count > 1 ? "s" : "") \(names.joined(separator: ", "))\(more); \(accepted)")
    }

    /// The problem of a member whose value has a wrong type.
    func mismatch(_ name: String, _ value: JSONValue, _ accepted: String) -> Problem {
        Problem(.invalidRequest, "'\(prefix)\(name)' is \(value.typeName); it takes \(accepted)")
    }

    /// The problem of a member whose value has the right type and is not acceptable.
    func refusal(_ name: String, _ reason: String) -> Problem {
        Problem(.invalidRequest, "'\(prefix)\(name)' \(reason)")
    }

    private func check(_ string: String, _ name: String, _ limit: Int) throws(Problem) -> String {
        guard DownloadLimits.isWithin(string, limit) else {
            throw Problem(
                .invalidRequest, "'\(prefix)\(name)' has \(string.unicodeScalars.count) characters; it takes at most \(limit)")
        }
        return string
    }
}

extension JSONValue {
    /// The name of the type in refusals.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
