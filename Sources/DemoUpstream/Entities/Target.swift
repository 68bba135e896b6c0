package import HTTPCore

/// A parsed request target.
package struct Target: Sendable {
    /// The decoded path segments.
    package var segments: [String]
    package let items: [QueryItem]
    /// The request's limit in bytes per second, where 0 means unlimited; `nil` if it has none.
    package let pace: Int64?
    /// The target as sent.
    package let raw: String

    /// Parses a target; `nil` if its path, its query or its pace is not valid.
    package init?(_ target: RequestTarget) {
        guard let segments = target.segments, let items = try? target.queryItems() else { return nil }
        let pace = items.first { $0.name == "pace" }.map { Int64($0.value) ?? -1 }
        if let pace, pace < 0 { return nil }
        self.segments = segments
        self.items = items
        self.pace = pace
        raw = String(decoding: Array(target.raw), as: UTF8.self)
    }

    /// The first value of a query parameter.
    package func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
}
