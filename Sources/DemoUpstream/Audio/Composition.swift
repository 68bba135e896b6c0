/// Thirty seconds of music made up from a track's id: a melody of a few motifs over a chord progression, in the key that the title
/// names; or a known tune, where there is one. The same track always gives the same notes, and two tracks never do.
struct Composition: Sendable {
    struct Note: Sendable {
        /// In samples from the beginning.
        let start: Int
        /// In samples; nothing sounds after it.
        let length: Int
        /// How far the phase, a fraction of 2³², moves with each sample.
        let increment: UInt32
        /// Loudness, 0...32,767.
        let loudness: Int32
    }

    /// The length of a preview: 30 s.
    static let sampleCount = 30 * SampleRate.perSecond

    /// In the order in which they start.
    private(set) var notes: [Note] = []
    let voice: Voice
    /// No note is longer than this.
    let longestNote: Int

    private let instrument: Instrument
    private let key: Key
    private let tuning: Double

    init(seed: UInt64, title: String, instrument: Instrument, tune: Tune? = nil) {
        var numbers = SeededNumbers(seed: seed)
        self.instrument = instrument
        voice = Voice.all[instrument] ?? Voice(instrument)
        longestNote = instrument.decay
        let modes = [Key.major, Key.major, Key.minor, Key.dorian, Key.mixolydian]
        let mode = numbers.pick(modes, else: Key.major)
        key = Key(named: title) ?? Key(tonic: numbers.next(below: 12), steps: mode)
        // A few cents above or below: nobody hears it, and no two previews share a waveform.
        tuning = 440 + Double(numbers.next(below: 2001)) / 1000 - 1

        if let tune { play(tune) } else { compose(&numbers, title: title) }
        notes.sort { ($0.start, $0.increment, $0.length) < ($1.start, $1.increment, $1.length) }
    }
}

// MARK: - Making the notes

extension Composition {
    private struct Motif {
        /// Lengths in half beats; they fill a bar.
        let rhythm: [Int]
        /// Steps of the scale from one note to the next.
        let moves: [Int]
    }

    private mutating func compose(_ numbers: inout SeededNumbers, title: String) {
        let lowered = SearchText.words(title)
        let isInThree = lowered.contains { ["waltz", "menuet", "menuets", "menuetto", "valse", "gymnopedie"].contains($0) }
        let beats = isInThree || numbers.next(below: 4) == 0 ? 3 : 4
        let tempo =
            instrument.tempos.lowerBound
            + (instrument.tempos.upperBound - instrument.tempos.lowerBound) * Double(numbers.next(below: 1000)) / 1000
        let halfBeat = Int(Double(SampleRate.perSecond) * 30 / tempo)
        compose(&numbers, halfBeats: beats * 2, halfBeat: max(halfBeat, 1))
    }

    private mutating func compose(_ numbers: inout SeededNumbers, halfBeats: Int, halfBeat: Int) {
        let progression = numbers.pick(
            key.isMinor
                ? [[0, 5, 2, 6], [0, 3, 6, 2], [0, 6, 5, 4], [0, 3, 4, 0]]
                : [[0, 4, 5, 3], [0, 5, 3, 4], [0, 3, 1, 4], [0, 2, 3, 4], [0, 3, 0, 4]], else: [0, 3, 4, 0])
        let accompaniment = numbers.pick(instrument.accompaniments, else: .held)
        let motifs = (0..<3).map { _ in makeMotif(&numbers, halfBeats: halfBeats) }
        // The first motif comes back: what is heard again is remembered as a tune.
        let form = [0, 1, 0, 2]
        // Whole bars up to the last chord, which has two seconds.
        let closing = 2 * SampleRate.perSecond
        let filled = Self.sampleCount - closing
        let bars = max(1, (filled + halfBeats * halfBeat / 2) / (halfBeats * halfBeat))
        let halfBeat = filled / (bars * halfBeats)
        let bar = halfBeats * halfBeat
        for (index, chordDegree) in [-7, 0, 2, 4, 7].enumerated() {
            add(chordDegree, octave: 3, start: bars * bar + index * SampleRate.perSecond / 40, length: closing, 6_500)
        }
        var degree = 7
        for place in 0..<bars {
            let start = place * bar
            let chord = progression[place % progression.count]
            accompany(accompaniment, chord: chord, start: start, halfBeats: halfBeats, halfBeat: halfBeat)
            degree = nearestChordTone(to: degree, chord: chord)
            let motif = motifs[form[place % form.count]]
            var moment = start
            for (rhythm, move) in zip(motif.rhythm, motif.moves) {
                let isStrong = (moment - start) % (halfBeat * 4) == 0
                let loudness = (isStrong ? 11_500 : 9_500) + numbers.next(below: 900)
                add(degree, octave: 4, start: moment, length: rhythm * halfBeat, Int32(loudness))
                moment += rhythm * halfBeat
                degree += move
                // Turned back at the ends of a singer's range.
                if degree > 14 { degree -= 4 }
                if degree < 2 { degree += 4 }
            }
        }
    }

    /// Plays a tune, with itself an octave below, again and again until the time is up.
    private mutating func play(_ tune: Tune) {
        let unit = SampleRate.perSecond * 60 / tune.unitsPerMinute
        let filled = Self.sampleCount - SampleRate.perSecond
        var moment = 0
        while moment < filled {
            for note in tune.notes where moment < filled {
                let length = note.units * max(1, unit)
                if let pitch = note.pitch {
                    add(pitch: pitch, start: moment, length: length, 11_000)
                    add(pitch: pitch - 12, start: moment, length: length, 4_500)
                }
                moment += length
            }
            moment += 4 * max(1, unit)
        }
    }

    private func makeMotif(_ numbers: inout SeededNumbers, halfBeats: Int) -> Motif {
        let rhythms: [[Int]]
        switch (instrument, halfBeats) {
        case (.honkyTonk, 8): rhythms = [[1, 2, 1, 2, 2], [1, 2, 1, 1, 1, 2], [2, 1, 2, 1, 2], [1, 1, 1, 1, 1, 2, 1]]
        case (.harpsichord, 8): rhythms = [[1, 1, 1, 1, 1, 1, 2], [2, 1, 1, 2, 1, 1], [1, 1, 2, 1, 1, 2]]
        case (_, 8): rhythms = [[2, 2, 2, 2], [3, 1, 2, 2], [2, 1, 1, 4], [1, 1, 2, 2, 2], [4, 2, 2], [3, 1, 4]]
        default: rhythms = [[2, 2, 2], [4, 2], [3, 1, 2], [2, 1, 1, 2], [1, 1, 2, 2]]
        }
        let rhythm = numbers.pick(rhythms, else: [halfBeats])
        let moves = rhythm.map { _ in numbers.pick([-2, -1, -1, 1, 1, 2, 3], else: 1) }
        return Motif(rhythm: rhythm, moves: moves)
    }

    private func nearestChordTone(to degree: Int, chord: Int) -> Int {
        let candidates = (degree - 2)...(degree + 2)
        let tones = candidates.filter { [0, 2, 4].contains((($0 - chord) % 7 + 7) % 7) }
        return tones.min { abs($0 - degree) < abs($1 - degree) } ?? degree
    }

    private mutating func accompany(
        _ accompaniment: Accompaniment, chord: Int, start: Int, halfBeats: Int, halfBeat: Int
    ) {
        switch accompaniment {
        case .held:
            for tone in [0, 2, 4] { add(chord + tone, octave: 3, start: start, length: halfBeats * halfBeat, 3_600) }
            add(chord, octave: 2, start: start, length: halfBeats * halfBeat, 5_500)
        case .broken, .rolled:
            let order = accompaniment == .broken ? [0, 4, 2, 4] : [0, 2, 4, 7, 4, 2]
            for place in 0..<halfBeats {
                let tone = order[place % order.count]
                add(chord + tone, octave: 3, start: start + place * halfBeat, length: halfBeat * 2, place == 0 ? 5_500 : 3_800)
            }
        case .bassAndChord:
            for place in stride(from: 0, to: halfBeats, by: 2) {
                let isBass = place == 0 || (halfBeats == 8 && place == 4)
                if isBass {
                    add(chord + (place == 0 ? 0 : 4), octave: 2, start: start + place * halfBeat, length: halfBeat * 3, 7_000)
                } else {
                    for tone in [0, 2, 4] {
                        add(chord + tone, octave: 3, start: start + place * halfBeat, length: halfBeat * 2, 3_000)
                    }
                }
            }
        case .walkingBass:
            let order = [0, 2, 4, 5]
            for place in stride(from: 0, to: halfBeats, by: 2) {
                let tone = order[(place / 2) % order.count]
                add(chord + tone, octave: 2, start: start + place * halfBeat, length: halfBeat * 2, 7_000)
            }
        }
    }

    private mutating func add(_ degree: Int, octave: Int, start: Int, length: Int, _ loudness: Int32) {
        add(pitch: key.pitch(degree, octave: octave), start: start, length: length, loudness)
    }

    /// - Parameter pitch: a MIDI note number; what is lower or higher than the instruments go is left out.
    private mutating func add(pitch: Int, start: Int, length: Int, _ loudness: Int32) {
        // A struck note rings on; a held one ends with its written length, a little of it being the release.
        let sounding = instrument.sustains ? length * 11 / 10 : max(length, instrument.decay)
        guard start < Self.sampleCount, (24...92).contains(pitch) else { return }
        notes.append(
            Note(
                start: start, length: max(1, min(sounding, instrument.decay)), increment: increment(pitch: pitch),
                loudness: loudness))
    }

    private func increment(pitch: Int) -> UInt32 {
        // Twelve equal semitones from A to the A above.
        let ratios = [
            1, 1.0594630943592953, 1.122462048309373, 1.189207115002721, 1.2599210498948732, 1.3348398541700344,
            1.4142135623730951, 1.4983070768766815, 1.5874010519681994, 1.681792830507429, 1.7817974362806785,
            1.887748625363387,
        ]
        let semitones = pitch - 21  // 21 is the lowest A of a piano: four octaves below 440 Hz.
        guard semitones >= 0 else { return 0 }
        let frequency = tuning / 16 * ratios[semitones % 12] * Double(UInt64(1) << UInt64(min(semitones / 12, 10)))
        let turns = frequency / Double(SampleRate.perSecond) * 4_294_967_296
        return turns < 2_147_483_647 ? UInt32(turns) : 0
    }
}
