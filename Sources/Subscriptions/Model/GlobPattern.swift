/// A pattern for a whole name: `*` stands for any characters, `/` included, and `?` for one. Case does not matter.
public struct GlobPattern: Sendable, Equatable {
    /// The pattern as written.
    public let text: String
    private let pattern: [Int]

    /// Creates a pattern.
    public init(_ text: String) {
        self.text = text
        var pattern: [Int] = []
        for unit in Self.units(text) {
            let part = unit == Self.asterisk ? Self.any : unit == Self.question ? Self.one : unit
            if part != Self.any || pattern.last != Self.any { pattern.append(part) }
        }
        self.pattern = pattern
    }

    private static let asterisk = Int(UInt8(ascii: "*"))
    private static let question = Int(UInt8(ascii: "?"))
    /// The parts for any characters, and for one. No character has these numbers.
    private static let any = 0x100
    private static let one = 0x101

    /// Returns a number for each character of a text in lower case. Numbers are compared much faster than characters.
    static func units(_ text: String) -> [Int] {
        text.lowercased().map { character in character.asciiValue.map(Int.init) ?? character.hashValue | .min }
    }

    /// Compares the patterns as written.
    public static func == (left: GlobPattern, right: GlobPattern) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    /// Returns whether the pattern matches the whole of a name. Takes time in proportion to both lengths.
    func matches(units name: [Int]) -> Bool {
        var (position, index) = (0, 0)
        // The last `*`, and the first character that it does not yet stand for.
        var star: (pattern: Int, name: Int)?
        while index < name.count {
            if position < pattern.count, pattern[position] == Self.any {
                star = (position, index)
                position += 1
            } else if position < pattern.count, pattern[position] == Self.one || pattern[position] == name[index] {
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
        return pattern[position...].allSatisfy { $0 == Self.any }
    }
}
