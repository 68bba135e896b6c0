/// What a preview is played on: a waveform, how a note swells and dies away, and how such pieces usually go.
enum Instrument: String, Sendable, CaseIterable {
    case piano, harpsichord, organ, strings, brass, guitar, musicBox, honkyTonk

    /// Loudness of the partials, the fundamental first.
    var partials: [Double] {
        switch self {
        case .piano: [1, 0.42, 0.22, 0.12, 0.06, 0.03]
        case .harpsichord: [0.8, 0.6, 0.45, 0.35, 0.25, 0.16, 0.1]
        case .organ: [1, 0.7, 0.1, 0.35, 0, 0, 0, 0.15]
        case .strings: [1, 0.5, 0.33, 0.22, 0.14, 0.08]
        case .brass: [0.8, 0.75, 0.5, 0.3, 0.18, 0.08]
        case .guitar: [1, 0.55, 0.3, 0.25, 0.1, 0.08]
        case .musicBox: [1, 0.05, 0.25, 0.02, 0, 0.12]
        case .honkyTonk: [0.9, 0.55, 0.35, 0.2, 0.12, 0.1]
        }
    }

    /// Whether a note keeps sounding while it is held, or is struck or plucked and dies away.
    var sustains: Bool {
        switch self {
        case .organ, .strings, .brass: true
        case .piano, .harpsichord, .guitar, .musicBox, .honkyTonk: false
        }
    }

    /// How long a struck note takes to die away, in samples. Also the most that any note may last, so that a sample depends on few.
    var decay: Int {
        switch self {
        case .piano, .musicBox: SampleRate.perSecond * 2
        case .guitar: SampleRate.perSecond * 3 / 2
        case .harpsichord, .honkyTonk: SampleRate.perSecond
        case .organ, .strings, .brass: SampleRate.perSecond * 3
        }
    }

    /// Beats a minute, from slow to fast.
    var tempos: ClosedRange<Double> {
        switch self {
        case .piano: 66...104
        case .harpsichord: 84...116
        case .organ: 54...72
        case .strings: 70...110
        case .brass: 72...100
        case .guitar: 80...108
        case .musicBox: 76...100
        case .honkyTonk: 88...104
        }
    }

    var accompaniments: [Accompaniment] {
        switch self {
        case .piano: [.broken, .bassAndChord, .rolled]
        case .harpsichord: [.broken, .walkingBass]
        case .organ, .brass: [.held, .walkingBass]
        case .strings: [.held, .broken]
        case .guitar: [.rolled, .broken]
        case .musicBox: [.broken, .bassAndChord]
        case .honkyTonk: [.bassAndChord]
        }
    }
}

/// How the chords under a melody are laid out.
enum Accompaniment: Sendable {
    /// All notes through the whole bar.
    case held
    /// Low, high, middle, high: Alberti's bass.
    case broken
    /// Upwards and back.
    case rolled
    /// A low note on the strong beats, the chord on the others.
    case bassAndChord
    /// One low note to a beat, on its way to the next chord.
    case walkingBass
}

/// The rate of the previews' samples.
enum SampleRate {
    /// 22,050 Hz: half the rate of a compact disc, enough for everything below 11 kHz.
    static let perSecond = 22_050
}
