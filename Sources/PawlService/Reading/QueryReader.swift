internal import HTTPCore

/// Takes the parameters of a query one by one, and refuses unreadable values.
struct QueryReader {
    private var items: [QueryItem]
    private var known: [String] = []

    /// Reads a query with `body`, then refuses the parameters that `body` did not take.
    static func read<Value>(
        _ target: borrowing RequestTarget, _ body: (inout QueryReader) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        var reader = try QueryReader(target)
        let value = try body(&reader)
        try reader.refuseUnknown()
        return value
    }

    /// Reads the query of a target.
    init(_ target: borrowing RequestTarget) throws(Problem) {
        guard target.rawQuery != nil else {
            items = []
            return
        }
        do throws(QueryError) {
            items = try target.queryItems()
        } catch {
            throw Problem(.invalidRequest, error.description)
        }
    }

    /// All values of a parameter that may repeat.
    mutating func values(_ name: String) -> [String] {
        if items.isEmpty { return [] }
        known.append(name)
        let values = items.filter { $0.name == name }.map(\.value)
        items.removeAll { $0.name == name }
        return values
    }

    /// The value of a parameter that may appear once; `nil` if it is absent.
    mutating func value(_ name: String) throws(Problem) -> String? {
        let values = values(name)
        guard values.count <= 1 else {
            throw Problem(.invalidRequest, "the query parameter '\(name)' is given \(values.count) times; it takes one value")
        }
        return values.first
    }

    /// A whole number in a range; `nil` if the parameter is absent.
    mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try value(name) else { return nil }
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Problem(
                .invalidRequest,
                "the query parameter '\(name)' is '\(text)'; it takes a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// A time in the format of RFC 3339; `nil` if the parameter is absent.
    mutating func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = try value(name) else { return nil }
        // An unescaped plus sign in a query means a space, and no time has a space.
        guard let time = Timestamp(parsing: text.replacing(" ", with: "+")) else {
            throw Problem(
                .invalidRequest, "the query parameter '\(name)' is '\(text)'; it takes a time such as 2026-11-23T08:00:00Z")
        }
        return time
    }

    /// `true` or `false`; `nil` if the parameter is absent.
    mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard let text = try value(name) else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default: throw Problem(.invalidRequest, "the query parameter '\(name)' is '\(text)'; it takes true or false")
        }
    }

    /// A raw value of an enumeration; `nil` if the parameter is absent.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(Problem) -> Choice? {
        guard let text = try value(name) else { return nil }
        return try Self.choice(text, name, type)
    }

    /// Any number of raw values of an enumeration.
    mutating func choices<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(Problem) -> [Choice] {
        var choices: [Choice] = []
        for text in values(name) { choices.append(try Self.choice(text, name, type)) }
        return choices
    }

    /// Refuses parameters that were not taken.
    private func refuseUnknown() throws(Problem) {
        guard let unknown = items.first else { return }
        let accepted =
            known.isEmpty ? "this path takes no query parameters" : "accepted parameters: " + known.joined(separator: ", ")
        throw Problem(.invalidRequest, "unknown query parameter '\(unknown.name)'; \(accepted)")
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, _ name: String, _ type: Choice.Type
    ) throws(Problem) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let names = type.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidRequest, "the query parameter '\(name)' is '\(text)'; it takes one of \(names)")
        }
        return choice
    }
}
