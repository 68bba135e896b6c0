/// A search of the Internet Archive, in the language of its index (Lucene's).
enum ArchiveQuery {
    /// The query for a term, among works of that kind that are there for everybody; nil if the term has nothing to look for.
    static func text(term: String, media: String?) -> String? {
        guard let term = escaped(term) else { return nil }
        var parts = ["(\(term))"]
        switch media {
        case nil, "all": break
        // Concerts are a type of their own.
        case "audio": parts.append("mediatype:(audio OR etree)")
        case let media?: parts.append("mediatype:(\(media))")
        }
        // Asking for `false` finds nothing: works without restriction have no such field.
        parts.append("-access-restricted-item:(true)")
        return parts.joined(separator: " AND ")
    }

    /// The term as words, with what the language would understand otherwise escaped; nil if nothing is left of it.
    ///
    /// `+ - & | "` cannot be escaped, since the archive refuses them then: before words they are left to mean what they mean, and by
    /// themselves they go, as does a quotation mark without its second.
    private static func escaped(_ term: String) -> String? {
        var term = term
        if !term.count(where: { $0 == "\"" }).isMultiple(of: 2), let last = term.lastIndex(of: "\"") { term.remove(at: last) }
        var words: [String] = []
        var isQuoted = false
        for word in term.split(whereSeparator: \.isWhitespace) {
            var word = String(word)
            let quotes = word.count { $0 == "\"" }
            if !isQuoted {
                let start = word.prefix { isOperator($0) }
                // One operator is meant; more of them are none that there is.
                if start.count > 1 || start.count == word.count { word.removeFirst(start.count) }
                // In capitals these join words, and a term may well begin or end with one.
                if ["AND", "OR", "NOT", "TO"].contains(word) { word = word.lowercased() }
            }
            if !quotes.isMultiple(of: 2) { isQuoted.toggle() }
            if !word.isEmpty { words.append(word) }
        }
        let text = words.joined(separator: " ")
        guard text.contains(where: { $0.isLetter || $0.isNumber || $0.isSymbol && !isOperator($0) }) else { return nil }
        var escaped = ""
        for character in text.unicodeScalars {
            if "(){}[]^~:\\/!".unicodeScalars.contains(character) { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(character)
        }
        return escaped
    }

    private static func isOperator(_ character: Character) -> Bool {
        character == "+" || character == "-" || character == "&" || character == "|"
    }
}

/// A page of results, of the archive's making, that holds all the results of a search.
///
/// The archive skips whole pages only: a page is chosen that is large enough to begin before the first result wanted and to end
/// behind the last one.
struct ArchivePage: Equatable {
    /// Results on a page.
    let rows: Int
    /// From 1.
    let number: Int
    /// How many results of the page come before those that are wanted.
    let skipped: Int

    /// The most results of a search that the archive gives at all.
    static let last = 10_000

    /// The smallest page with results from `offset` on, `limit` of them; the page ends at ``last`` if the results do.
    init(offset: Int, limit: Int) {
        let end = offset + limit
        // The first page of `end` rows always fits.
        let rows = (limit..<max(end, limit + 1)).first { rows in
            let number = offset / rows
            return end <= (number + 1) * rows && (number + 1) * rows <= Self.last
        }
        self.rows = rows ?? end
        number = offset / self.rows + 1
        skipped = offset % self.rows
    }
}
