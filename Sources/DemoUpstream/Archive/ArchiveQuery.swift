internal import HTTPCore

/// What a search asks of the archive, read from the parameters of its advanced search: of the index's language (Lucene's) as much as
/// `(words) AND mediatype:(audio OR etree) AND -access-restricted-item:(true)` needs.
struct ArchiveQuery: Sendable {
    /// All of them have to be there.
    private(set) var words: [String] = []
    /// A field, such as `mediatype`, and the values that it must have one of; or, with a hyphen before its name, none of.
    private(set) var clauses: [(field: String, values: [String])] = []
    private(set) var fields: [String] = []
    private(set) var rows = 50
    /// From 1.
    private(set) var page = 1

    /// The archive gives no results beyond this one.
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

    /// Adds what stands in parentheses, or nowhere; before them stands a field and a colon, if anything.
    private mutating func add(_ text: String, behind prefix: String) {
        if prefix.hasSuffix(":"), let field = prefix.split(separator: " ").last {
            clauses.append((String(field.dropLast()), text.split(separator: " ").map(String.init).filter { $0 != "OR" }))
        } else {
            words += TrackWords.words(text)
        }
    }

    /// Whether an item is found; one that has been withdrawn never is.
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
