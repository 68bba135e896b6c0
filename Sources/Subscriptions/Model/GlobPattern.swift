/// A pattern for a whole name: `*` stands for any characters, `/` included, and `?` for one. Case does not matter.
public struct GlobPattern: Sendable, Equatable {
    /// The pattern as written.
    public let text: String
    private let pattern: [Character]

    /// Creates a pattern.
    public init(_ text: String) {
        self.text = text
        var pattern: [Character] = []
        for character in text.lowercased() where character != "*" || pattern.last != "*" { pattern.append(character) }
        self.pattern = pattern
    }

    /// Compares the patterns as written.
    public static func == (left: GlobPattern, right: GlobPattern) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    /// Returns whether the pattern matches the whole of a name. Takes time in proportion to both lengths.
    public func matches(_ name: String) -> Bool { matches(lowercased: Array(name.lowercased())) }

    func matches(lowercased name: [Character]) -> Bool {
        var (position, index) = (0, 0)
        // The last `*`, and the first character that it does not yet stand for.
        var star: (pattern: Int, name: Int)?
        while index < name.count {
            if position < pattern.count, pattern[position] == "*" {
                star = (position, index)
                position += 1
            } else if position < pattern.count, pattern[position] == "?" || pattern[position] == name[index] {
                position += 1
                index += 1
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                position = last.pattern + 1
                index = last.name + 1
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == "*" }
    }
}
