internal import HTTPCore

/// Finds the endpoint of a path, on the bytes as they were sent.
struct Router: Sendable {
    /// What a path leads to.
    struct Match: Sendable {
        let endpoint: Endpoint
        /// The endpoint's place among all.
        let number: Int
        /// What stands where the path has `{id}`, `{name}` or `{code}`; empty where it has none of them.
        let id: ArraySlice<UInt8>
    }

    private struct Pattern: Sendable {
        let endpoint: Endpoint
        let number: Int
        /// The segments; an empty one takes anything.
        let segments: [[UInt8]]
    }

    /// By number of segments, those without a wildcard first.
    private let patterns: [[Pattern]]

    init() {
        let all = Endpoint.allCases.enumerated().map { number, endpoint in
            let segments = endpoint.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
            return Pattern(
                endpoint: endpoint, number: number,
                segments: segments.map { $0.first == UInt8(ascii: "{") ? [] : Array($0) })
        }
        let longest = all.map(\.segments.count).max() ?? 0
        patterns = (0...longest).map { count in
            let fitting = all.filter { $0.segments.count == count }
            return fitting.filter { !$0.segments.contains([]) } + fitting.filter { $0.segments.contains([]) }
        }
    }

    /// What a request target leads to; `nil` if nothing does.
    func match(_ target: borrowing RequestTarget) -> Match? {
        let path = target.rawPath
        if !path.contains(UInt8(ascii: "%")) { return match(path) }
        // RFC 3986 §6.2.2.2: an escaped letter is that letter. An escaped slash is not a separator, and no path of ours has one.
        guard let segments = target.segments, !segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) else {
            return nil
        }
        return match(Array(("/" + segments.joined(separator: "/")).utf8)[...])
    }

    private func match(_ path: ArraySlice<UInt8>) -> Match? {
        guard path.first == UInt8(ascii: "/") else { return nil }
        let rest = path.dropFirst()
        var count = rest.isEmpty ? 0 : 1
        for byte in rest where byte == UInt8(ascii: "/") { count += 1 }
        guard count < patterns.count else { return nil }
        for pattern in patterns[count] {
            if let id = Self.fit(pattern.segments, rest) {
                return Match(endpoint: pattern.endpoint, number: pattern.number, id: id)
            }
        }
        return nil
    }

    /// What the wildcard stands for if the segments fit; empty without one.
    private static func fit(_ segments: [[UInt8]], _ path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = path
        var id: ArraySlice<UInt8> = []
        for segment in segments {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let part = rest[rest.startIndex..<end]
            if segment.isEmpty {
                guard !part.isEmpty else { return nil }
                id = part
            } else if part.count != segment.count || !part.elementsEqual(segment) {
                return nil
            }
            rest = end == rest.endIndex ? [] : rest[(end + 1)...]
        }
        return id
    }
}
