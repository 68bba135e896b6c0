/// A track's preview: 30 s of music as a WAVE file (PCM, 16 bits, mono), computed for any offset. The seed decides the
/// melody, a few motifs over a chord progression. A track always sounds the same, and different tracks differ.
struct Preview: EntityContent {
    private struct Note {
        /// The first sample.
        let start: Int
        /// The number of samples; the note is silent after it.
        let length: Int
        /// The change of the phase, a fraction of 2³², with each sample.
        let increment: UInt32
        /// The loudness, 0...32,767.
        let loudness: Int32
    }

    /// Samples per second: half the rate of a compact disc, enough for everything below 11 kHz.
    static let rate = 22_050
    static let sampleCount = 30 * rate
    /// The maximum length of a note in samples.
    private static let longestNote = rate * 3 / 2

    private let timbre: Timbre
    private let waveform: [Int32]
    /// The notes in order of their start.
    private var notes: [Note] = []

    init(seed: Int64, timbre: Timbre) {
        self.timbre = timbre
        waveform = timbre.waveform
        var numbers = SeededNumbers(seed: UInt64(bitPattern: seed))
        compose(&numbers)
        notes.sort { ($0.start, $0.increment, $0.length) < ($1.start, $1.increment, $1.length) }
    }
}

// MARK: - Notes

extension Preview {
    private mutating func compose(_ numbers: inout SeededNumbers) {
        let isMinor = numbers.next(below: 3) == 0
        let scale = isMinor ? [0, 2, 3, 5, 7, 8, 10] : [0, 2, 4, 5, 7, 9, 11]
        let progression = numbers.pick(
            isMinor
                ? [[0, 5, 2, 6], [0, 3, 6, 2], [0, 3, 4, 0]] : [[0, 4, 5, 3], [0, 5, 3, 4], [0, 3, 1, 4], [0, 2, 3, 4]])
        let arpeggio = numbers.pick([[0, 4, 2, 4], [0, 2, 4, 7], [0, 2, 4, 2]])
        let tonic = 48 + numbers.next(below: 12)
        // An inaudible deviation of a few cents, so that no two previews share a waveform.
        let tuning = 440 + Double(numbers.next(below: 2001)) / 1000 - 1
        // Whole bars of eight half beats, at 76 to 101 beats a minute, up to the last chord.
        let filled = Self.sampleCount - Self.longestNote
        let bars = 9 + numbers.next(below: 4)
        let halfBeat = filled / (bars * 8)
        let rhythms = [[2, 2, 2, 2], [3, 1, 2, 2], [2, 1, 1, 4], [1, 1, 2, 2, 2], [4, 2, 2], [3, 1, 4]]
        let motifs = (0..<3).map { _ in numbers.pick(rhythms).map { (length: $0, move: numbers.pick([-2, -1, -1, 1, 1, 2, 3])) } }

        func add(_ degree: Int, octave: Int, at start: Int, length: Int, _ loudness: Int) {
            let (up, step) = (degree + 70).quotientAndRemainder(dividingBy: 7)
            let pitch = tonic + 12 * (octave + up - 10) + scale[step]
            // Twelve equal semitones to an octave, from the lowest A of a piano (pitch 21), four octaves below 440 Hz.
            let frequency = (21..<pitch).reduce(tuning / 16) { frequency, _ in frequency * 1.0594630943592953 }
            // A struck note continues to ring; a held one ends a little after its written length.
            let ringing = timbre == .held ? length * 11 / 10 : max(length, Self.rate)
            notes.append(
                Note(
                    start: start, length: min(ringing, Self.longestNote),
                    increment: UInt32(frequency / Double(Self.rate) * 4_294_967_296), loudness: Int32(loudness)))
        }

        var degree = 7
        for bar in 0..<bars {
            let start = bar * 8 * halfBeat
            let chord = progression[bar % progression.count]
            for (index, tone) in (arpeggio + arpeggio).enumerated() {
                add(chord + tone, octave: 0, at: start + index * halfBeat, length: halfBeat * 2, index == 0 ? 5_500 : 3_800)
            }
            // The first motif returns, so that the melody is recognisable. Each begins on a tone of the chord.
            degree = [0, -1, 1].map { degree + $0 }.first { [0, 2, 4].contains(($0 - chord + 70) % 7) } ?? degree
            var moment = start
            for note in motifs[[0, 1, 0, 2][bar % 4]] {
                add(degree, octave: 1, at: moment, length: note.length * halfBeat, 10_000 + numbers.next(below: 1_500))
                moment += note.length * halfBeat
                degree += note.move
                // Keeps the melody within a singer's range.
                if degree > 12 { degree -= 4 }
                if degree < 2 { degree += 4 }
            }
        }
        for (index, tone) in [-7, 0, 2, 4, 7].enumerated() {
            add(tone, octave: 1, at: bars * 8 * halfBeat + index * Self.rate / 40, length: Self.longestNote, 5_000)
        }
    }
}

// MARK: - Samples

extension Preview {
    /// The samples of a range. Each depends only on its index, so that a range can be made on its own.
    func samples(in range: Range<Int>) -> [Int16] {
        let range = range.clamped(to: 0..<Self.sampleCount)
        var sums = [Int32](repeating: 0, count: range.count)
        for note in notes.drop(while: { $0.start + Self.longestNote < range.lowerBound }) {
            if note.start >= range.upperBound { break }
            add(note, to: &sums, from: range.lowerBound)
        }
        return sums.indices.map { Int16(clamping: faded(Int(sums[$0]), at: range.lowerBound + $0)) }
    }

    private func add(_ note: Note, to sums: inout [Int32], from first: Int) {
        let end = min(note.start + note.length, first + sums.count) - note.start
        var age = max(note.start, first) - note.start
        var index = note.start + age - first
        var phase = UInt32(truncatingIfNeeded: age) &* note.increment
        let shift = UInt32(32 - Timbre.periodBits)
        // The loudness is computed for every 32nd sample of the note, and interpolated linearly in between.
        var opening = (timbre.loudness(at: age & ~31, of: note.length) &* note.loudness) >> 15
        while age < end {
            let segment = age & ~31
            let stop = min(end, segment &+ 32)
            let closing = (timbre.loudness(at: segment &+ 32, of: note.length) &* note.loudness) >> 15
            let slope = closing &- opening
            while age < stop {
                let loudness = opening &+ (slope &* Int32(truncatingIfNeeded: age &- segment)) >> 5
                sums[index] &+= (waveform[Int(truncatingIfNeeded: phase >> shift)] &* loudness) >> 15
                phase &+= note.increment
                age &+= 1
                index &+= 1
            }
            opening = closing
        }
    }

    /// Fades out over the last second and a half.
    private func faded(_ sum: Int, at index: Int) -> Int {
        let fade = Self.rate * 3 / 2
        let left = Self.sampleCount - index
        return left >= fade ? sum : sum * left / fade
    }
}

// MARK: - File

extension Preview {
    private static let headerLength: Int64 = 44
    private static let soundLength = Int64(sampleCount * 2)
    /// The length of each preview in bytes.
    static let fileLength = headerLength + soundLength
    var length: Int64 { Self.fileLength }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) {
        let header = range.clamped(to: 0..<Self.headerLength)
        bytes.append(contentsOf: Self.header[Int(header.lowerBound)..<Int(header.upperBound)])
        let start = Int(max(range.lowerBound, Self.headerLength) - Self.headerLength)
        let end = Int(range.upperBound - Self.headerLength)
        guard start < end else { return }
        // A range may begin or end in the middle of a sample.
        for (index, sample) in zip((start / 2)..., samples(in: (start / 2)..<((end + 1) / 2))) {
            if index * 2 >= start { bytes.append(UInt8(truncatingIfNeeded: sample)) }
            if index * 2 + 1 < end { bytes.append(UInt8(truncatingIfNeeded: sample >> 8)) }
        }
    }

    /// The RIFF header of "Multimedia Programming Interface and Data Specifications 1.0" (1991), numbers little-endian.
    private static let header: [UInt8] = {
        func number(_ value: Int, size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = Array("RIFF".utf8) + number(Int(headerLength + soundLength) - 8, size: 4) + Array("WAVEfmt ".utf8)
        bytes += number(16, size: 4) + number(1, size: 2) + number(1, size: 2)  // PCM, mono
        bytes += number(rate, size: 4) + number(rate * 2, size: 4)  // samples and bytes per second
        bytes += number(2, size: 2) + number(16, size: 2)  // bytes and bits per sample
        return bytes + Array("data".utf8) + number(Int(soundLength), size: 4)
    }()
}
