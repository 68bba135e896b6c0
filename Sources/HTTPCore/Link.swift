/// A link of a Link field: RFC 8288 §3.
public struct Link: Sendable, Equatable {
    /// The target as it was sent: a reference that is resolved relative to the URL of the response.
    public let target: String
    /// The first value of each parameter, by its name in lowercase.
    private let parameters: [String: String]

    /// The links of all Link fields, in order. Parts that are no links are skipped.
    public static func all(in fields: Fields) -> [Link] {
        fields.values(.link).flatMap { all(in: $0) }
    }

    /// The links of a value, in order. Parts that are no links are skipped.
    static func all(in value: String) -> [Link] {
        var links: [Link] = []
        var rest = Array(value.utf8)[...]
        while let start = rest.firstIndex(where: { $0 != ASCII.comma && !ASCII.isWhiteSpace($0) }) {
            rest = rest[start...]
            guard rest.first == UInt8(ascii: "<") else {
                rest = rest[endOfParameters(in: rest)...]
                continue
            }
            // Without a further end of a target there is no further link.
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { break }
            // A target may contain commas.
            let target = rest[(start + 1)..<end]
            rest = rest[(end + 1)...]
            let parametersEnd = endOfParameters(in: rest)
            links.append(Link(target: target, rest[..<parametersEnd]))
            rest = rest[parametersEnd...]
        }
        return links
    }

    private init(target: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) {
        self.target = String(fieldText: target.trimmingWhiteSpace)
        var parameters: [String: String] = [:]
        let list = text.drop { $0 != ASCII.semicolon }.dropFirst()
        for (name, value) in Parameters(list) where parameters[name] == nil { parameters[name] = String(fieldText: value) }
        self.parameters = parameters
    }

    /// The index of the next comma that is not in a quoted string, or of the end.
    private static func endOfParameters(in bytes: ArraySlice<UInt8>) -> Int {
        var index = bytes.startIndex
        var isQuoted = false
        while index < bytes.endIndex {
            switch bytes[index] {
            case ASCII.backslash where isQuoted: index += 1
            case ASCII.doubleQuote: isQuoted.toggle()
            case ASCII.comma where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return bytes.endIndex
    }

    /// The first value of a parameter, whose name is in lowercase; nil if there is none.
    public subscript(name: String) -> String? { parameters[name] }

    /// Whether the link has a relation type, compared without case (RFC 8288 §2.1.1).
    public func hasRelation(_ type: String) -> Bool {
        (self["rel"] ?? "").split(separator: " ").contains { $0.lowercased() == type }
    }
}
