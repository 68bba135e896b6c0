/// A scale and the note it stands on.
struct Key: Sendable, Equatable {
    /// The tonic as a number of semitones above C.
    var tonic: Int
    /// Semitones of the seven degrees above the tonic.
    var steps: [Int]

    static let major = [0, 2, 4, 5, 7, 9, 11]
    static let minor = [0, 2, 3, 5, 7, 8, 10]
    static let dorian = [0, 2, 3, 5, 7, 9, 10]
    static let mixolydian = [0, 2, 4, 5, 7, 9, 10]

    init(tonic: Int, steps: [Int]) {
        self.tonic = tonic
        self.steps = steps
    }

    /// The key that a title names, as in "Prelude and Fugue No. 4 in C-Sharp Minor".
    init?(named title: String) {
        let words = title.split(whereSeparator: { $0 == " " || $0 == "," || $0 == ":" })
        for (place, word) in words.enumerated() where word == "Major" || word == "Minor" {
            guard place >= 2, words[place - 2] == "in", let letter = words[place - 1].first,
                let natural = ["C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11][letter]
            else { continue }
            let name = words[place - 1]
            let accidental = name.hasSuffix("-Sharp") ? 1 : name.hasSuffix("-Flat") ? 11 : 0
            self.init(tonic: (natural + accidental) % 12, steps: word == "Major" ? Self.major : Self.minor)
            return
        }
        return nil
    }

    /// Whether the third above the tonic is a minor one.
    var isMinor: Bool { steps.count > 2 && steps[2] == 3 }

    /// The pitch of a degree (0 is the tonic, 7 the tonic an octave above), as a MIDI note number around `octave`.
    func pitch(_ degree: Int, octave: Int) -> Int {
        let octaves = degree >= 0 ? degree / 7 : (degree - 6) / 7
        let step = steps.isEmpty ? 0 : steps[(degree - octaves * 7) % steps.count]
        return 12 * (octave + 1 + octaves) + tonic + step
    }
}
