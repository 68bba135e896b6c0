internal import HTTPCore

/// Finds the endpoint of a path, on the bytes as sent.
struct Router: Sendable {
    /// The endpoint of a path, and the path's variable segment.
    struct Match: Sendable {
        /// The endpoint; `nil` for a path without one.
        let endpoint: Endpoint?
        /// The endpoint's index in `Endpoint.all`; `nil` for a path without one.
        let number: Int?
        /// The segment in the place of `{id}`, `{name}` or `{code}`; empty if the path has none of them.
        let segment: ArraySlice<UInt8>
        /// The segment in the place of a second `{…}`; empty if the path has none.
        let second: ArraySlice<UInt8>

        static let nowhere = Match(endpoint: nil, number: nil, segment: [], second: [])
    }

    /// The path of an endpoint, possibly with a variable segment.
    private struct Pattern: Sendable {
        let endpoint: Endpoint
        let number: Int
        /// The bytes before the variable segment; the whole path if there is none.
        let prefix: [UInt8]
        /// The bytes after the last variable segment; `nil` if there is none.
        let suffix: [UInt8]?
        /// The bytes between two variable segments; `nil` if there is only one.
        let middle: [UInt8]?

        /// Whether paths of this length can match.
        func canFit(_ count: Int) -> Bool { suffix == nil ? count == prefix.count : count > prefix.count }

        init(_ endpoint: Endpoint, number: Int) {
            self.endpoint = endpoint
            self.number = number
            let path = Array(endpoint.path.utf8)
            guard let start = path.firstIndex(of: UInt8(ascii: "{")), let end = path.lastIndex(of: UInt8(ascii: "}")) else {
                (prefix, suffix, middle) = (path, nil, nil)
                return
            }
            let inner = path[start...end].split(separator: UInt8(ascii: "}"))
            middle = inner.count > 1 ? Array(inner[1].prefix { $0 != UInt8(ascii: "{") }) : nil
            prefix = Array(path[..<start])
            suffix = Array(path[(end + 1)...])
        }

        /// The ranges of the variable segments in a path, empty if the pattern has none; `nil` if the path does not
        /// match.
        func fit(_ path: Span<UInt8>) -> (first: Range<Int>, second: Range<Int>)? {
            guard let suffix else {
                return path.count == prefix.count && path.continues(with: prefix, at: 0) ? (0..<0, 0..<0) : nil
            }
            let end = path.count - suffix.count
            guard end > prefix.count, path.continues(with: suffix, at: end), path.continues(with: prefix, at: 0) else {
                return nil
            }
            var first = prefix.count
            while first < end, path[first] != UInt8(ascii: "/") { first += 1 }
            guard let middle else { return first == end ? (prefix.count..<end, 0..<0) : nil }
            let second = first + middle.count
            guard first > prefix.count, second < end, path.continues(with: middle, at: first) else { return nil }
            for index in second..<end where path[index] == UInt8(ascii: "/") { return nil }
            return (prefix.count..<first, second..<end)
        }
    }

    /// The patterns by ``place(of:)``. In each list, fixed paths precede those with a variable segment.
    private let patterns: [[Pattern]]

    init() {
        let all = Endpoint.all.enumerated().map { Pattern($1, number: $0) }
        var patterns = [[Pattern]](repeating: [], count: Self.places)
        for pattern in all.filter({ $0.suffix == nil }) + all.filter({ $0.suffix != nil }) {
            patterns[Self.place(of: Array(pattern.endpoint.path.utf8).span)].append(pattern)
        }
        self.patterns = patterns
    }

    private static let places = 8 * 32

    /// The place of a path in ``patterns``: by the number of its slashes, which no variable segment has, and by its first
    /// letter. No endpoint's path begins with a variable segment, or has more than six slashes.
    private static func place(of path: Span<UInt8>) -> Int {
        var slashes = 0
        for index in path.indices where path[index] == UInt8(ascii: "/") { slashes += 1 }
        return min(slashes, 7) << 5 | (path.count > 1 ? Int(path[1] & 31) : 0)
    }

    /// The endpoint of a request target.
    func match(_ target: borrowing RequestTarget) -> Match {
        let path = target.rawPath
        // The target is the base path without a slash.
        if path.isEmpty { return match([UInt8(ascii: "/")]) }
        if !path.contains(UInt8(ascii: "%")) { return match(path) }
        // An escaped letter equals the letter (RFC 3986 §6.2.2.2). An escaped slash is not a separator, and no endpoint's
        // own segment has one.
        guard let segments = target.segments, !segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) else {
            // The name of a file is not read, so it may be any bytes.
            let match = match(path)
            return match.endpoint?.isFile == true ? match : .nowhere
        }
        return match(Array(("/" + segments.joined(separator: "/")).utf8)[...])
    }

    private func match(_ path: ArraySlice<UInt8>) -> Match {
        let bytes = path.span
        for pattern in patterns[Self.place(of: bytes)] where pattern.canFit(bytes.count) {
            guard let (first, second) = pattern.fit(bytes) else { continue }
            let start = path.startIndex
            return Match(
                endpoint: pattern.endpoint, number: pattern.number,
                segment: path[(start + first.lowerBound)..<(start + first.upperBound)],
                second: path[(start + second.lowerBound)..<(start + second.upperBound)])
        }
        return .nowhere
    }
}

extension Span<UInt8> {
    /// Whether the bytes are at this offset.
    @inline(__always)
    fileprivate func continues(with bytes: [UInt8], at start: Int) -> Bool {
        guard count - start >= bytes.count else { return false }
        for index in bytes.indices where self[start + index] != bytes[index] { return false }
        return true
    }
}
