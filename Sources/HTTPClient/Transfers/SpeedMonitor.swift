/// Notices when a body comes in more slowly than allowed. Pure: it is told the time and the number of bytes so far.
///
/// The last eight samples, an eighth of the period apart, are kept. So a stall is noticed between the period and nine eighths of it.
struct SpeedMonitor: Sendable {
    private static let sampleCount = 8

    /// Fewer bytes than this within the period are a stall.
    private let minimumBytes: Int64
    private let interval: Duration
    /// Bytes so far at the last samples, oldest first.
    private var samples: [Int64] = []
    /// When the next sample is due.
    private(set) var due: ContinuousClock.Instant

    /// Begins a period in which at least `minimumBytes` (1 or more) must come, after the `bytes` that came before.
    init(minimumBytes: Int64, period: Duration, bytes: Int64, now: ContinuousClock.Instant) {
        self.minimumBytes = minimumBytes
        interval = period / Self.sampleCount
        samples = [bytes]
        due = now + interval
    }

    /// Takes a sample if one is due; returns whether the body has stalled. After a long absence of the caller, one sample counts for one
    /// interval: a machine that slept does not see stalls.
    mutating func isStalled(bytes: Int64, now: ContinuousClock.Instant) -> Bool {
        guard now >= due else { return false }
        due = now + interval
        samples.append(bytes)
        guard samples.count > Self.sampleCount else { return false }
        let oldest = samples.removeFirst()
        return bytes - oldest < minimumBytes
    }
}
