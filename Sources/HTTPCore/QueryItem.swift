/// One name and value of a query or a form.
public struct QueryItem: Sendable, Hashable {
    /// Decoded; may be empty.
    public let name: String
    /// Decoded; empty if there was no `=`.
    public let value: String

    /// An item of decoded texts.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The items of an application/x-www-form-urlencoded text (WHATWG URL §5.1), in order. Stricter than a browser: a bad
    /// escape or text that isn't UTF-8 is an error and not guessed at.
    public static func parse(_ bytes: some Collection<UInt8>) throws(QueryError) -> [QueryItem] {
        var items: [QueryItem] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let nameEnd = part.firstIndex(of: ASCII.equals)
            let rawName = part[..<(nameEnd ?? part.endIndex)]
            let rawValue = nameEnd.map { part[part.index(after: $0)...] } ?? part[part.endIndex...]
            guard let name = PercentEncoding.decode(rawName, plusIsSpace: true) else {
                throw QueryError(item: String(fieldText: Array(part)))
            }
            guard let value = PercentEncoding.decode(rawValue, plusIsSpace: true) else {
                throw QueryError(item: String(fieldText: Array(part)))
            }
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }
}
