/// The sound of a preview: one period of a waveform, and the envelope of a note. Samples are computed in integers, so
/// that the sound is bit-identical on every machine.
enum Timbre: String, Sendable, CaseIterable {
    case struck, plucked, held, bell

    /// The loudness of the partials, the fundamental first.
    private var partials: [Double] {
        switch self {
        case .struck: [1, 0.42, 0.22, 0.12, 0.06, 0.03]
        case .plucked: [0.9, 0.6, 0.4, 0.3, 0.2, 0.12]
        case .held: [1, 0.5, 0.33, 0.22, 0.14, 0.08]
        case .bell: [1, 0.05, 0.25, 0.02, 0, 0.12]
        }
    }

    /// The loudness of a note of `length` samples at an age in samples, 0...32,767.
    func loudness(at age: Int, of length: Int) -> Int32 {
        let left = max(0, length - age)
        // A held note rises over an eighth of its length and ends within a fifth; the others start at once and decay.
        let rise = self == .held ? age * 8 * 32_767 / length : age * 32_767 / 96
        let fall = self == .held ? left * 5 * 32_767 / length : left * left * 32_767 / (length * length)
        return Int32(clamping: min(rise, fall, 32_767))
    }

    static let periodBits = 11

    /// One period: 2,048 values of at most ±32,767.
    var waveform: [Int32] { Self.waveforms[self] ?? [] }

    private static let waveforms = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.makeWaveform()) })

    private func makeWaveform() -> [Int32] {
        let sine = Self.sine
        let wave = sine.indices.map { index in
            partials.enumerated().reduce(0) { $0 + $1.element * sine[index * ($1.offset + 1) % sine.count] }
        }
        let peak = wave.reduce(0) { max($0, abs($1)) }
        return wave.map { Int32($0 / max(peak, 1e-9) * 32_767) }
    }

    /// One period of a sine, computed by repeated rotation: mathematics libraries differ in the last bit.
    private static let sine: [Double] = {
        let (stepSine, stepCosine) = (0.003067956762965976, 0.9999952938095762)  // of 2π / 2048
        var (x, y) = (1.0, 0.0)
        return (0..<(1 << periodBits)).map { _ in
            defer { (x, y) = (x * stepCosine - y * stepSine, x * stepSine + y * stepCosine) }
            return y
        }
    }()
}
