/// A search of the Internet Archive, in the query language of its index (Lucene).
enum ArchiveQuery {
    /// The query for a term among unrestricted works of a kind; `nil` if the term has no searchable text.
    static func text(term: String, media: String?) -> String? {
        guard let term = escaped(term) else { return nil }
        var parts = ["(\(term))"]
        switch media {
        case nil, "all": break
        // Concerts are a media type of their own.
        case "audio": parts.append("mediatype:(audio OR etree)")
        case let media?: parts.append("mediatype:(\(media))")
        }
        // A query for `false` finds nothing, since unrestricted works do not have the field.
        parts.append("-access-restricted-item:(true)")
        return parts.joined(separator: " AND ")
    }

    /// The words of a term, with special characters escaped; `nil` if no searchable text remains.
    ///
    /// The archive refuses an escaped `+ - & | "`. So these operators stay in front of words, and are removed
    /// elsewhere, like an unpaired quotation mark.
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
                // One operator is intended; several have no meaning.
                if start.count > 1 || start.count == word.count { word.removeFirst(start.count) }
                // In capitals these are operators, which are invalid at the beginning or end.
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

/// A page of the archive's results that contains all requested results.
///
/// The archive can only skip whole pages. So the page size is chosen such that one page begins before the first
/// requested result and ends after the last.
struct ArchivePage: Equatable {
    /// The number of results on a page.
    let rows: Int
    /// The number of the page, from 1.
    let number: Int
    /// The number of results of the page before the requested ones.
    let skipped: Int

    /// The maximum number of results that the archive returns for a search.
    static let last = 10_000

    /// The smallest page that contains the `limit` results from `offset` on, and does not end beyond ``last``.
    init(offset: Int, limit: Int) {
        let end = offset + limit
        // The first page with `end` rows always fits.
        let rows = (limit..<max(end, limit + 1)).first { rows in
            let number = offset / rows
            return end <= (number + 1) * rows && (number + 1) * rows <= Self.last
        }
        self.rows = rows ?? end
        number = offset / self.rows + 1
        skipped = offset % self.rows
    }
}
