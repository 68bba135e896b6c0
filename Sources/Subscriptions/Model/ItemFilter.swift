public import Catalog

/// The conditions for an item to be taken without a command: patterns for its name, and limits of its duration.
public struct ItemFilter: Sendable, Equatable {
    /// One of these patterns must match; empty for every name.
    public var include: [GlobPattern] = []
    /// Patterns of names that are refused.
    public var exclude: [GlobPattern] = []
    /// The shortest duration in milliseconds; `nil` for none.
    public var minDurationMs: Int64?
    /// The longest duration in milliseconds; `nil` for none.
    public var maxDurationMs: Int64?

    /// The maximum number of patterns in each list.
    public static let maximumPatterns = 64
    /// The maximum number of characters of a pattern.
    public static let longestPattern = 200

    /// Creates a filter that accepts every item.
    public init() {}

    /// Returns whether an item is taken. An unknown duration passes.
    public func accepts(name: String, durationMs: Int64?) -> Bool {
        if !include.isEmpty || !exclude.isEmpty {
            let name = GlobPattern.units(name)
            if !include.isEmpty, !include.contains(where: { $0.matches(units: name) }) { return false }
            if exclude.contains(where: { $0.matches(units: name) }) { return false }
        }
        guard let durationMs else { return true }
        return durationMs >= minDurationMs ?? 0 && durationMs <= maxDurationMs ?? .max
    }

    /// Returns whether a part of a work is taken.
    public func accepts(_ part: SearchItem) -> Bool {
        accepts(name: Self.name(of: part), durationMs: part.durationMs)
    }

    /// Returns the text that patterns are compared with: of a file in a work with folders its path, else the name.
    public static func name(of part: SearchItem) -> String { part.path ?? part.name ?? "" }
}
