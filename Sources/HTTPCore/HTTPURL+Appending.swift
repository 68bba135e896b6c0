extension HTTPURL {
    /// The URL with `path` appended to its path, separated by one slash, and `items` appended to its query.
    ///
    /// `path` is raw: the caller must escape its segments (``PercentEncoding/encodeComponent(_:)``). Characters that
    /// are illegal in a path are encoded.
    public func appending(path: String = "", query items: [QueryItem] = []) -> HTTPURL {
        var (whole, query) = (self.path, self.query)
        if !path.isEmpty {
            let base = whole.utf8.last == ASCII.slash ? String(whole.dropLast()) : whole
            let added = PercentEncoding.encode(path.utf8, keeping: .path)
            whole = base + (added.utf8.first == ASCII.slash ? "" : "/") + added
        }
        if !items.isEmpty {
            let added = PercentEncoding.encodeForm(items)
            query = query.flatMap { $0.isEmpty ? nil : "\($0)&\(added)" } ?? added
        }
        return with(path: whole, query: query)
    }

    /// Resolves a reference relative to this URL: RFC 3986 §5.2, for Location fields. Nil if the result is not an http
    /// or https URL. User information is not inherited by another host.
    ///
    /// Spaces in the reference, which many servers send in Location, are percent-encoded. Spaces around it are removed.
    public func resolving(_ reference: String) -> HTTPURL? {
        var bytes = Array(reference.utf8)[...].trimmingWhiteSpace
        if bytes.contains(ASCII.space) { bytes = bytes.flatMap { $0 == ASCII.space ? Array("%20".utf8) : [$0] }[...] }
        // Text that looks like a scheme is one: §4.2 forbids a colon in the first segment of a relative path.
        let delimiter = bytes.firstIndex {
            $0 == ASCII.colon || $0 == ASCII.slash || $0 == ASCII.questionMark || $0 == UInt8(ascii: "#")
        }
        if let delimiter, bytes[delimiter] == ASCII.colon { return HTTPURL(bytes) }
        if bytes.starts(with: "//".utf8) { return HTTPURL((Array("\(scheme):".utf8) + bytes)[...]) }

        let rest = bytes.prefix { $0 != UInt8(ascii: "#") }
        let question = rest.firstIndex(of: ASCII.questionMark) ?? rest.endIndex
        guard let path = Parser.component(rest[..<question]), let query = Parser.component(rest[question...].dropFirst())
        else { return nil }
        if path.isEmpty { return with(path: self.path, query: question < rest.endIndex ? query : self.query) }
        var merged = path
        if path.utf8.first != ASCII.slash, let slash = self.path.lastIndex(of: "/") { merged = self.path[...slash] + path }
        return with(path: HTTPURL.removingDotSegments(merged), query: question < rest.endIndex ? query : nil)
    }

    /// Removes dot segments: RFC 3986 §5.2.4.
    static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
