/// Detects a body that arrives more slowly than allowed. It has no I/O: the time and the number of bytes are
/// parameters.
///
/// It keeps the last eight samples, which are an eighth of the period apart. So it detects a stall after at least the
/// period and at most nine eighths of it.
struct SpeedMonitor: Sendable {
    private static let sampleCount = 8

    /// The minimum number of bytes in a period; fewer are a stall.
    private let minimumBytes: Int64
    private let interval: Duration
    /// The numbers of bytes at the last samples, oldest first.
    private var samples: [Int64] = []
    /// The number of consecutive samples at which the last period was too slow.
    private var slowSamples = 0
    /// The time of the next sample.
    private(set) var due: ContinuousClock.Instant

    /// Begins a period in which at least `minimumBytes` (1 or more) must arrive, in addition to `bytes`.
    init(minimumBytes: Int64, period: Duration, bytes: Int64, now: ContinuousClock.Instant) {
        self.minimumBytes = minimumBytes
        interval = period / Self.sampleCount
        samples = [bytes]
        due = now + interval
    }

    /// Takes a sample if one is due; returns the length of the stall, a period or more, or nil if the body has not
    /// stalled. After a long pause of the caller, one sample counts for one interval, so that a machine's sleep is not
    /// a stall.
    mutating func stall(bytes: Int64, now: ContinuousClock.Instant) -> Duration? {
        guard now >= due else { return nil }
        due = now + interval
        samples.append(bytes)
        guard samples.count > Self.sampleCount else { return nil }
        let oldest = samples.removeFirst()
        slowSamples = bytes - oldest < minimumBytes ? slowSamples + 1 : 0
        return slowSamples > 0 ? interval * (Self.sampleCount + slowSamples - 1) : nil
    }
}
