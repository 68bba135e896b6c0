/// The conditions under which an item is taken by itself: patterns for its name, and limits of its duration.
public struct ItemFilter: Sendable, Equatable {
    /// Patterns of which one must match; empty for every name.
    public var include: [GlobPattern] = []
    /// Patterns of which none may match.
    public var exclude: [GlobPattern] = []
    /// The shortest duration in milliseconds; `nil` for none.
    public var minDurationMs: Int64?
    /// The longest duration in milliseconds; `nil` for none.
    public var maxDurationMs: Int64?

    /// Creates a filter that accepts every item.
    public init() {}

    /// Returns whether an item is taken. An unknown duration passes.
    public func accepts(name: String, durationMs: Int64?) -> Bool {
        if !include.isEmpty, !include.contains(where: { $0.matches(name) }) { return false }
        if exclude.contains(where: { $0.matches(name) }) { return false }
        guard let durationMs else { return true }
        return durationMs >= minDurationMs ?? 0 && durationMs <= maxDurationMs ?? .max
    }
}
