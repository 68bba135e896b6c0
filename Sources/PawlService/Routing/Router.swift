internal import HTTPCore

/// Finds the endpoint of a path, on the bytes as they were sent.
struct Router: Sendable {
    /// What a path leads to.
    struct Match: Sendable {
        /// `nil` for a path that leads nowhere.
        let endpoint: Endpoint?
        /// The endpoint's place among all.
        let number: Int?
        /// What stands where the path has `{id}`, `{name}` or `{code}`; empty where it has none of them.
        let id: ArraySlice<UInt8>

        static let nowhere = Match(endpoint: nil, number: nil, id: [])
    }

    /// A path with or without a place for one segment of the client's.
    private struct Pattern: Sendable {
        let endpoint: Endpoint
        let number: Int
        /// What stands before that place; the whole path if there is none.
        let prefix: [UInt8]
        /// What stands behind it; nil without such a place.
        let suffix: [UInt8]?

        init(_ endpoint: Endpoint, number: Int) {
            self.endpoint = endpoint
            self.number = number
            let path = Array(endpoint.path.utf8)
            guard let start = path.firstIndex(of: UInt8(ascii: "{")), let end = path.lastIndex(of: UInt8(ascii: "}")) else {
                (prefix, suffix) = (path, nil)
                return
            }
            prefix = Array(path[..<start])
            suffix = Array(path[(end + 1)...])
        }

        /// What stands in the place of the client's segment, as a range of the path; empty without one. Nil if the path is another.
        func fit(_ path: Span<UInt8>) -> Range<Int>? {
            guard let suffix else {
                return path.count == prefix.count && path.continues(with: prefix, at: 0) ? 0..<0 : nil
            }
            let end = path.count - suffix.count
            guard end > prefix.count, path.continues(with: suffix, at: end), path.continues(with: prefix, at: 0) else {
                return nil
            }
            for index in prefix.count..<end where path[index] == UInt8(ascii: "/") { return nil }
            return prefix.count..<end
        }
    }

    /// Paths that are themselves before those that take anything.
    private let patterns: [Pattern]

    init() {
        let all = Endpoint.allCases.enumerated().map { Pattern($1, number: $0) }
        patterns = all.filter { $0.suffix == nil } + all.filter { $0.suffix != nil }
    }

    /// What a request target leads to.
    func match(_ target: borrowing RequestTarget) -> Match {
        let path = target.rawPath
        // Nothing behind the base path.
        if path.isEmpty { return match([UInt8(ascii: "/")]) }
        if !path.contains(UInt8(ascii: "%")) { return match(path) }
        // RFC 3986 §6.2.2.2: an escaped letter is that letter. An escaped slash is not a separator, and no path of ours has one.
        guard let segments = target.segments, !segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) else {
            return .nowhere
        }
        return match(Array(("/" + segments.joined(separator: "/")).utf8)[...])
    }

    private func match(_ path: ArraySlice<UInt8>) -> Match {
        let bytes = path.span
        for pattern in patterns {
            guard let id = pattern.fit(bytes) else { continue }
            let start = path.startIndex
            return Match(
                endpoint: pattern.endpoint, number: pattern.number, id: path[(start + id.lowerBound)..<(start + id.upperBound)])
        }
        return .nowhere
    }
}

extension Span<UInt8> {
    /// Whether those bytes stand there.
    @inline(__always)
    fileprivate func continues(with bytes: [UInt8], at start: Int) -> Bool {
        guard count - start >= bytes.count else { return false }
        for index in bytes.indices where self[start + index] != bytes[index] { return false }
        return true
    }
}
