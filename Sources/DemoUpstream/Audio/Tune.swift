/// The beginning of a real melody, for works that many know by it. All are in the public domain.
struct Tune: Sendable {
    struct Note: Sendable, Equatable {
        /// MIDI note number; nil is a rest.
        let pitch: Int?
        /// In the tune's units.
        let units: Int
    }

    let notes: [Note]
    let unitsPerMinute: Int

    /// Reads `"E5 D#5:2 -"`: note names with octave (C4 is middle C), a length in units after a colon, and `-` for rests.
    ///
    /// A word that is none of these makes the whole nil.
    init?(_ text: String, unitsPerMinute: Int) {
        var notes: [Note] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" || $0 == "|" }) {
            let parts = word.split(separator: ":", maxSplits: 1)
            guard let name = parts.first, let units = parts.count == 1 ? 1 : Int(parts[1]), units > 0 else { return nil }
            if name == "-" {
                notes.append(Note(pitch: nil, units: units))
                continue
            }
            guard let letter = name.first, let octave = name.last.flatMap({ Int(String($0)) }),
                let natural = ["C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11][letter]
            else { return nil }
            let accidental = name.contains("#") ? 1 : name.contains("b") ? -1 : 0
            notes.append(Note(pitch: 12 * (octave + 1) + natural + accidental, units: units))
        }
        guard !notes.isEmpty, unitsPerMinute > 0 else { return nil }
        self.notes = notes
        self.unitsPerMinute = unitsPerMinute
    }

    /// By track id.
    static let all: [Int64: Tune] = {
        var tunes: [Int64: Tune] = [:]
        for (id, unitsPerMinute, text) in texts { tunes[id] = Tune(text, unitsPerMinute: unitsPerMinute) }
        return tunes
    }()

    static let texts: [(id: Int64, unitsPerMinute: Int, text: String)] = [
        (5_000_110_101, 280, firstPrelude),
        // Jesu, Joy of Man's Desiring
        (
            5_000_110_504, 260,
            """
            - G4 A4 B4 D5 C5 C5 E5 D5 | D5 G5 F#5 G5 D5 B4 G4 A4 B4 | C5 D5 E5 D5 C5 B4 A4 B4 G4 | F#4 G4 A4 D4 F#4 A4 C5 B4 A4 |
            B4 G4 A4 B4 D5 C5 C5 E5 D5 | D5 G5 F#5 G5 D5 B4 G4 A4 B4 | E4 D5 C5 B4 A4 G4 D4 G4 F#4 | G4 B4 D5 G5 D5 B4 G4:3
            """
        ),
        // Spring
        (
            5_000_120_101, 300,
            """
            E5:2 | G#5:2 G#5:2 G#5:2 F#5 E5 | B5:6 B5 A5 | G#5:2 G#5:2 G#5:2 F#5 E5 | B5:6 B5 A5 |
            G#5:2 A5 B5 A5:2 G#5:2 | F#5:2 D#5:2 B4:2 E5:2
            """
        ),
        // Eine kleine Nachtmusik
        (
            5_000_210_101, 280,
            """
            G4:2 - D4 G4:2 - D4 | G4 D4 G4 B4 D5:2 -:2 | C5:2 - A4 C5:2 - A4 | C5 A4 F#4 A4 D4:2 -:2 |
            G4 - G4:3 B4 A4 G4 | G4 F#4 F#4:3 A4 C5 F#4 | A4 G4 G4:3 B4 A4 G4 | G4 F#4 F#4:3 A4 C5 F#4 | G4:4 -:4
            """
        ),
        // Rondo alla turca
        (
            5_000_210_203, 480,
            """
            B4 A4 G#4 A4 | C5:2 -:2 D5 C5 B4 C5 | E5:2 -:2 F5 E5 D#5 E5 | B5 A5 G#5 A5 B5 A5 G#5 A5 | C6:4 A5:2 C6:2 |
            B5:2 A5:2 G5:2 A5:2 | B5:2 A5:2 G5:2 A5:2 | B5:2 A5:2 G5:2 F#5:2 | E5:4
            """
        ),
        // Symphony No. 5
        (
            5_000_230_201, 360,
            """
            - G4 G4 G4 | D#4:8 | - F4 F4 F4 | D4:10 | - G4 G4 G4 D#4 G#4 G#4 G#4 G4 D#5 D#5 D#5 C5:4 |
            - G4 G4 G4 D4 G#4 G#4 G#4 G4 F5 F5 F5 D5:4 | - G5 G5 F5 D#5:2 -:2 | - G5 G5 F5 D#5:2 -:2 | G5 F5 D#5:2 D5:2 C5:4 -:4
            """
        ),
        // Für Elise
        (
            5_000_230_401, 400,
            """
            E5 D#5 | E5 D#5 E5 B4 D5 C5 | A4:2 - C4 E4 A4 | B4:2 - E4 G#4 B4 | C5:2 - E4 E5 D#5 |
            E5 D#5 E5 B4 D5 C5 | A4:2 - C4 E4 A4 | B4:2 - E4 C5 B4 | A4:4
            """
        ),
        // In the Hall of the Mountain King
        (
            5_000_350_104, 300,
            """
            B3 C#4 D4 E4 F#4 D4 F#4:2 | F4 C#4 F4:2 E4 C4 E4:2 | B3 C#4 D4 E4 F#4 D4 F#4 B4 | A4 F#4 D4 F#4 A4:4 |
            B3 C#4 D4 E4 F#4 D4 F#4:2 | F4 C#4 F4:2 E4 C4 E4:2 | B3 C#4 D4 E4 F#4 D4 F#4 B4 | A4 F#4 D4 F#4 A4:4
            """
        ),
        // Morning Mood
        (
            5_000_350_101, 160,
            """
            B5 G#5 F#5 E5 F#5 G#5 | B5 G#5 F#5 E5 F#5 G#5 | B5 G#5 B5 C#6 G#5 C#6 | B5 G#5 F#5 E5:3 |
            B4 G#4 F#4 E4 F#4 G#4 | B4 G#4 F#4 E4 F#4 G#4 | B4 G#4 B4 C#5 G#4 C#5 | B4 G#4 F#4 E4:3
            """
        ),
        // Largo from the New World
        (
            5_000_370_102, 160,
            """
            E4:3 G4 G4:4 | E4:3 D4 C4:4 | D4:2 E4:2 G4:3 E4 | D4:8 | E4:3 G4 G4:4 | E4:3 D4 C4:4 | D4:2 E4:2 D4:3 C4 | C4:8
            """
        ),
        // Gymnopédie No. 1
        (
            5_000_420_101, 76,
            "- F#5 A5 | G5 F#5 C#5 | B4 C#5 D5 | A4:3 | F#4:3 | F#4:3 | F#4:3 | - F#5 A5 | G5 F#5 C#5 | B4 C#5 D5"
        ),
        // The Entertainer
        (
            5_000_610_102, 380,
            """
            D4 D#4 | E4 C5:2 E4 C5:2 E4 C5:5 C5 D5 D#5 | E5 C5 D5 E5:2 B4 D5:2 C5:4 -:2 D4 D#4 |
            E4 C5:2 E4 C5:2 E4 C5:5 A4 G4 | F#4 A4 C5 E5:2 D5 C5 A4 D5:6
            """
        ),
        // Greensleeves
        (
            5_000_620_101, 280,
            """
            A4:2 | C5:4 D5:2 E5:3 F5 E5:2 | D5:4 B4:2 G4:3 A4 B4:2 | C5:4 A4:2 A4:3 G#4 A4:2 | B4:4 G#4:2 E4:4 A4:2 |
            C5:4 D5:2 E5:3 F5 E5:2 | D5:4 B4:2 G4:3 A4 B4:2 | C5:3 B4 A4:2 G#4:3 F#4 G#4:2 | A4:6 A4:4
            """
        ),
        // Auld Lang Syne
        (
            5_000_620_110, 200,
            """
            C4:2 | F4:3 F4 F4:2 A4:2 | G4:3 F4 G4:2 A4:2 | F4:3 F4 A4:2 C5:2 | D5:6 D5:2 |
            C5:3 A4 A4:2 F4:2 | G4:3 F4 G4:2 A4:2 | F4:3 D4 D4:2 C4:2 | F4:6
            """
        ),
        // Drunken Sailor
        (
            5_000_620_201, 360,
            """
            A4:2 A4 A4 A4:2 A4 A4 | A4:2 D4:2 F4:2 A4:2 | G4:2 G4 G4 G4:2 G4 G4 | G4:2 C4:2 E4:2 G4:2 |
            A4:2 A4 A4 A4:2 A4 A4 | A4:2 B4:2 C5:2 D5:2 | C5:2 A4:2 G4:2 E4:2 | D4:4 D4:4
            """
        ),
    ]

    /// The Prelude in C: each bar is a chord of five notes, broken in the same way twice.
    private static let firstPrelude: String = {
        let bars = [
            "C4 E4 G4 C5 E5", "C4 D4 A4 D5 F5", "B3 D4 G4 D5 F5", "C4 E4 G4 C5 E5", "C4 E4 A4 E5 A5", "C4 D4 F#4 A4 D5",
            "B3 D4 G4 D5 G5", "B3 C4 E4 G4 C5", "A3 C4 E4 G4 C5", "D3 A3 D4 F#4 C5", "G3 B3 D4 G4 B4",
        ]
        return bars.map { bar in
            let notes = bar.split(separator: " ")
            let half = [0, 1, 2, 3, 4, 2, 3, 4].map { String(notes[$0]) }.joined(separator: " ")
            return half + " " + half
        }.joined(separator: " | ")
    }()
}
