extension RequestTarget {
    /// The path percent-decoded; nil if an escape is bad, the text is not UTF-8, or it holds NUL, which file systems and C
    /// take for its end.
    ///
    /// An encoded slash can't be distinguished from a real one here; route by ``segments``.
    public var path: String? {
        guard let text = PercentEncoding.decode(rawPath), !text.utf8.contains(0) else { return nil }
        return text
    }

    /// What stands between the slashes of the path, each percent-decoded after splitting: `/a%2Fb/c` has `a/b` and `c`.
    ///
    /// `/` has none; a slash at the end makes a last empty one. Dot segments stay: nothing here is a file name. Nil where
    /// `path` is nil; none for the server as a whole.
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

    /// The query's names and values by the rules of application/x-www-form-urlencoded: `&` separates, the first `=` ends the
    /// name, `+` is a space. Order and repeated names are kept; empty items are left out. Throws for a bad escape or text
    /// that isn't UTF-8.
    public func queryItems() throws(QueryError) -> [QueryItem] {
        guard let rawQuery else { return [] }
        return try QueryItem.parse(rawQuery)
    }
}
