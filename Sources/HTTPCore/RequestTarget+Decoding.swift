extension RequestTarget {
    /// The percent-decoded path. Nil if an escape is invalid, the text is not UTF-8, or it contains NUL, which ends
    /// text in C.
    ///
    /// An encoded slash looks like a real one here, so routing should use ``segments``.
    public var path: String? {
        guard let text = PercentEncoding.decode(rawPath), !text.utf8.contains(0) else { return nil }
        return text
    }

    /// The segments between the slashes of the path, percent-decoded after splitting: `/a%2Fb/c` has `a/b` and `c`.
    ///
    /// `/` has none. A trailing slash makes a last, empty one. Dot segments stay, since segments are not file names.
    /// Nil where ``path`` is nil; empty for the server as a whole.
    public var segments: [String]? {
        guard !isAsterisk else { return [] }
        let path = rawPath.dropFirst()
        guard !path.isEmpty else { return [] }
        var result: [String] = []
        for segment in path.split(separator: ASCII.slash, omittingEmptySubsequences: false) {
            guard let text = PercentEncoding.decode(segment), !text.utf8.contains(0) else { return nil }
            result.append(text)
        }
        return result
    }

    /// Decodes the query by the rules of application/x-www-form-urlencoded: `&` separates items, the first `=` ends the
    /// name, and `+` is a space. Order and repeated names are kept; empty items are skipped.
    /// - Throws: An error for an invalid escape, or text that is not UTF-8.
    public func queryItems() throws(QueryError) -> [QueryItem] {
        guard let rawQuery else { return [] }
        return try QueryItem.parse(rawQuery)
    }
}
