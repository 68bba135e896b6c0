extension HTTPURL {
    /// The URL with `path` appended to its path, separated by one slash, and `items` appended to its query.
    ///
    /// `path` is raw: the caller must escape its segments (``PercentEncoding/encodeComponent(_:)``). Characters that
    /// are illegal in a path are encoded.
    public func appending(path: String = "", query items: [QueryItem] = []) -> HTTPURL {
        var parts = Parts(self)
        if !path.isEmpty {
            let base = parts.path.utf8.last == ASCII.slash ? String(parts.path.dropLast()) : parts.path
            let added = PercentEncoding.encode(path.utf8, keeping: .path)
            parts.path = base + (added.utf8.first == ASCII.slash ? "" : "/") + added
        }
        if !items.isEmpty {
            let added = PercentEncoding.encodeForm(items)
            if let query = parts.query, !query.isEmpty {
                parts.query = "\(query)&\(added)"
            } else {
                parts.query = added
            }
        }
        return HTTPURL(parts)
    }

    /// Resolves a reference relative to this URL: RFC 3986 §5.2, for Location fields. Nil if the result is not an http
    /// or https URL. User information is not inherited by another host.
    ///
    /// Spaces in the reference, which many servers send in Location, are percent-encoded. Spaces around it are removed.
    public func resolving(_ reference: String) -> HTTPURL? {
        var bytes = Array(Array(reference.utf8)[...].trimmingWhiteSpace)
        if bytes.contains(ASCII.space) { bytes = bytes.flatMap { $0 == ASCII.space ? Array("%20".utf8) : [$0] } }
        // Text that looks like a scheme is one: §4.2 forbids a colon in the first segment of a relative path.
        let delimiter = bytes.firstIndex {
            $0 == ASCII.colon || $0 == ASCII.slash || $0 == ASCII.questionMark || $0 == UInt8(ascii: "#")
        }
        if let delimiter, bytes[delimiter] == ASCII.colon { return Parts(bytes).map(HTTPURL.init) }
        if bytes.starts(with: "//".utf8) { return Parts(Array("\(scheme):".utf8) + bytes).map(HTTPURL.init) }

        let rest = bytes[..<(bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex)]
        let question = rest.firstIndex(of: ASCII.questionMark) ?? rest.endIndex
        guard let path = Parts.text(rest[..<question], keeping: .requestTarget),
            let query = Parts.text(rest[question...].dropFirst(), keeping: .requestTarget)
        else { return nil }
        var parts = Parts(self)
        if path.isEmpty {
            if question < rest.endIndex { parts.query = query }
        } else {
            var merged = path
            if path.utf8.first != ASCII.slash, let slash = parts.path.lastIndex(of: "/") {
                merged = parts.path[...slash] + path
            }
            parts.path = HTTPURL.removingDotSegments(merged)
            parts.query = question < rest.endIndex ? query : nil
        }
        return HTTPURL(parts)
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

extension HTTPURL.Parts {
    init(_ url: HTTPURL) {
        scheme = url.scheme
        userInfo = url.userInfo
        host = url.host
        port = url.port
        path = url.path
        query = url.query
    }
}
