/// An instrument as two tables of integers: one period of its waveform and the course of a note's loudness. Sound made of integers is
/// the same to the bit on every machine.
struct Voice: Sendable {
    /// One period, `periodLength` values of at most ±32,767.
    let period: [Int32]
    /// Loudness over a note's whole length: `envelopeLength` steps of 0...32,767, and one more to interpolate towards.
    let envelope: [Int32]

    static let periodBits = 11
    static let periodLength = 1 << periodBits
    static let envelopeLength = 256

    init(_ instrument: Instrument) {
        let sine = Self.sine
        let partials = instrument.partials
        var wave = [Double](repeating: 0, count: Self.periodLength)
        for (place, loudness) in partials.enumerated() where loudness > 0 {
            for index in wave.indices {
                wave[index] += loudness * sine[(index * (place + 1)) % Self.periodLength]
            }
        }
        let peak = wave.reduce(0) { max($0, abs($1)) }
        period = wave.map { Self.nearest($0 / max(peak, 1e-9) * 32_767) }

        var envelope = [Int32](repeating: 0, count: Self.envelopeLength + 2)
        var dying = 1.0
        for step in 0..<Self.envelopeLength {
            let place = Double(step) / Double(Self.envelopeLength)
            let loudness: Double
            if instrument.sustains {
                // Swells over a tenth of the note and is released over its last fifth.
                loudness = min(1, place * 10) * min(1, (1 - place) * 5)
            } else {
                loudness = (step == 0 ? 0 : step == 1 ? 0.8 : dying) * min(1, (1 - place) * 8)
                dying *= 0.983
            }
            envelope[step] = Self.nearest(loudness * 32_767)
        }
        self.envelope = envelope
    }

    /// The voices of all instruments, made once.
    static let all: [Instrument: Voice] = Dictionary(
        uniqueKeysWithValues: Instrument.allCases.map { ($0, Voice($0)) })

    /// Conversion cuts off; `rounded()` would need the C mathematics library.
    private static func nearest(_ value: Double) -> Int32 {
        Int32(value < 0 ? value - 0.5 : value + 0.5)
    }

    /// One period of a sine, by turning a pointer a step at a time: no mathematics library, so no differences between them.
    private static let sine: [Double] = {
        let stepSine = 0.003067956762965976  // sin(2π / 2048)
        let stepCosine = 0.9999952938095762  // cos(2π / 2048)
        var table: [Double] = []
        var (x, y) = (1.0, 0.0)
        for _ in 0..<periodLength {
            table.append(y)
            (x, y) = (x * stepCosine - y * stepSine, x * stepSine + y * stepCosine)
        }
        return table
    }()
}
