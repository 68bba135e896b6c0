/// Speed, remaining time and stalls of one transfer, from samples of its byte counter.
///
/// The speed is the average over the last few seconds, so it is right from the second sample on and steady enough to read.
struct ProgressMeter: Sendable {
    /// How far back the average reaches.
    static let window: Duration = .seconds(4)
    /// Samples closer together than this are merged, which bounds their number.
    static let resolution: Duration = .milliseconds(200)
    /// Without a byte for so long, the transfer counts as stalled; well before it is given up and connected anew.
    static let stallsAfter: Duration = .seconds(5)

    private struct Sample {
        var bytes: Int64
        var instant: ContinuousClock.Instant
    }

    /// Oldest first; the last one is the newest, and may move until it is `resolution` away from the one before.
    private var samples: [Sample] = []
    private var lastGrowth: ContinuousClock.Instant?

    init() {}

    /// Notes the byte counter. A counter that fell means that the download started over, and so does the meter.
    mutating func sample(bytes: Int64, at instant: ContinuousClock.Instant) {
        guard let newest = samples.last else {
            samples.append(Sample(bytes: bytes, instant: instant))
            lastGrowth = instant
            return
        }
        guard instant >= newest.instant else { return }
        if bytes < newest.bytes {
            self = ProgressMeter()
            return sample(bytes: bytes, at: instant)
        }
        if bytes > newest.bytes { lastGrowth = instant }
        if samples.count > 1, instant - samples[samples.count - 2].instant < Self.resolution {
            samples[samples.count - 1] = Sample(bytes: bytes, instant: instant)
        } else {
            samples.append(Sample(bytes: bytes, instant: instant))
        }
        // One sample at or before the window's edge is kept, to measure from.
        let edge = instant - Self.window
        if let first = samples.lastIndex(where: { $0.instant <= edge }), first > 0 {
            samples.removeFirst(first)
        }
    }

    /// Bytes per second at that time; 0 before there are two samples.
    func bytesPerSecond(at now: ContinuousClock.Instant) -> Int64 {
        guard let oldest = samples.first, let newest = samples.last, samples.count > 1 else { return 0 }
        // Measuring to now rather than to the last sample lets the speed of a silent transfer sink.
        let seconds = (max(now, newest.instant) - oldest.instant) / .seconds(1)
        let bytes = newest.bytes.subtractingReportingOverflow(oldest.bytes)
        guard seconds > 0, !bytes.overflow else { return 0 }
        return Int64(exactly: (Double(bytes.partialValue) / seconds).rounded()) ?? .max
    }

    /// Whether nothing has come for a while.
    func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard let lastGrowth else { return false }
        return now - lastGrowth >= Self.stallsAfter
    }
}
