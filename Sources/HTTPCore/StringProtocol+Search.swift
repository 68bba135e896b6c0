/// Searches for texts, byte by byte in UTF-8.
///
/// The ones of `_StringProcessing` would bring regular expressions into memory, which nothing in the product uses.
extension StringProtocol {
    /// Returns the first range of a text; `nil` if there is none. An empty text is nowhere.
    package func firstRange(of text: String) -> Range<Index>? {
        let wanted = text.utf8
        guard let first = wanted.first else { return nil }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: wanted) { return start..<rest.index(start, offsetBy: wanted.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns whether a text occurs in this one.
    package func contains(_ text: String) -> Bool { firstRange(of: text) != nil }

    /// Returns the texts between the occurrences of a separator.
    package func texts(between separator: String) -> [SubSequence] {
        var result: [SubSequence] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            result.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return result + [rest]
    }

    /// Replaces the occurrences of a text.
    /// - Parameter maximum: The maximum number of replacements, from the start.
    package func replacing(_ text: String, with replacement: String, maxReplacements maximum: Int = .max) -> String {
        var result = ""
        var rest = self[...]
        var count = 0
        while count < maximum, let range = rest.firstRange(of: text) {
            result += rest[..<range.lowerBound] + replacement
            rest = rest[range.upperBound...]
            count += 1
        }
        return result + rest
    }
}

extension String {
    /// The text with `A`–`Z` in lower case, and every other character as it is.
    package var asciiLowercased: String {
        guard utf8.contains(where: { ASCII.lowercased($0) != $0 }) else { return self }
        return String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }
}
