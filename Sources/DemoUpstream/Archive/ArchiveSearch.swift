internal import HTTPCore

/// A search of the archive, parsed from the parameters of its advanced search. Supports only queries such as `(words)
/// AND mediatype:(audio OR etree) AND -access-restricted-item:(true)` in the language of the index (Lucene).
struct ArchiveSearch: Sendable {
    /// The words. All must match.
    private(set) var words: [String] = []
    /// Fields, such as `mediatype`, each with values. One value must match, or none if a hyphen precedes the name.
    private(set) var clauses: [(field: String, values: [String])] = []
    private(set) var fields: [String] = []
    private(set) var rows = 50
    /// The number of the page, from 1.
    private(set) var page = 1

    /// The maximum number of results that the archive returns.
    static let last = 10_000

    init(items: [QueryItem]) {
        for item in items {
            switch item.name {
            case "q": read(item.value)
            case "fl[]": fields.append(item.value)
            case "rows": rows = Int(item.value).map { min(max(0, $0), Self.last) } ?? rows
            case "page": page = Int(item.value).map { min(max(1, $0), Self.last + 1) } ?? page
            default: break
            }
        }
    }

    private mutating func read(_ text: String) {
        var (outside, inside) = ("", "")
        var (isInside, isEscaped) = (false, false)
        for character in text {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "(" where !isEscaped && !isInside: isInside = true
            case ")" where !isEscaped && isInside:
                add(inside, behind: outside)
                (outside, inside, isInside) = ("", "", false)
            default: if isInside { inside.append(character) } else { outside.append(character) }
            }
            isEscaped = false
        }
        add(outside + inside, behind: "")
    }

    /// Adds the words in parentheses, or outside. A preceding field and colon make them a clause.
    private mutating func add(_ text: String, behind prefix: String) {
        if prefix.hasSuffix(":"), let field = prefix.split(separator: " ").last {
            clauses.append((String(field.dropLast()), text.split(separator: " ").map(String.init).filter { $0 != "OR" }))
        } else {
            words += TrackWords.words(text)
        }
    }

    /// Whether the query finds an item. Withdrawn items are never found.
    func finds(_ item: Archive.Item) -> Bool {
        let names = [item.identifier] + item["title"] + item["creator"] + item["subject"]
        let itsWords = names.flatMap(TrackWords.words)
        return !item.isDark && words.allSatisfy { word in itsWords.contains { $0.hasPrefix(word) } }
            && clauses.allSatisfy { field, values in
                let isRefused = field.hasPrefix("-")
                return item[String(field.drop { $0 == "-" })].contains(where: values.contains) != isRefused
            }
    }
}
