/// One name and its value of a query or a form.
public struct QueryItem: Sendable, Hashable {
    /// The decoded name; may be empty.
    public let name: String
    /// The decoded value; empty if there was no `=`.
    public let value: String

    /// Creates an item from decoded texts.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Parses application/x-www-form-urlencoded text (WHATWG URL §5.1) into items, in order. Unlike in browsers, an
    /// invalid escape or text that is not UTF-8 is an error.
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
