/// The words by which a track is found: lower-case letters and digits, without diacritics.
struct TrackWords: Sendable {
    enum Field: Sendable { case track, artist, album, genre }

    private let words: [Field: [String]]

    init(_ names: [Field: String]) { words = names.mapValues(Self.words) }

    /// Whether each word is a prefix of a word in one of the fields. Prefixes suffice, so that a search finds results
    /// while the user still types its last word.
    func match(_ wanted: [String], in fields: [Field]) -> Bool {
        wanted.allSatisfy { word in fields.contains { words[$0]?.contains { $0.hasPrefix(word) } ?? false } }
    }

    /// The words of a text: `"Préludes, Op. 28"` → `["preludes", "op", "28"]`. An apostrophe joins (`"Children's"` →
    /// `"childrens"`).
    static func words(_ text: String) -> [String] {
        var folded = ""
        for character in text.lowercased() where character != "'" && character != "’" {
            folded.append(withoutDiacritic[character] ?? character)
        }
        return folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// The letters with a diacritic in the catalogue, and the letters that people type instead.
    private static let withoutDiacritic: [Character: Character] = [
        "á": "a", "ä": "a", "å": "a", "ç": "c", "é": "e", "è": "e", "ë": "e", "í": "i", "ł": "l", "ř": "r", "ü": "u",
    ]
}
