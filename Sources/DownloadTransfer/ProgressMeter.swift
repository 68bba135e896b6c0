/// Measures the speed and the stalls of one transfer from samples of its byte counter.
///
/// The speed is the average over the last few seconds. It is right from the second sample on,
/// and steady enough to read.
package struct ProgressMeter: Sendable {
    /// The time that the average covers.
    package static let window: Duration = .seconds(4)
    /// The minimum time between two samples. Closer samples are merged, which bounds their number.
    static let resolution: Duration = .milliseconds(200)
    /// The time without a byte after which a transfer counts as stalled. The attempt is abandoned well after that.
    static let stallsAfter: Duration = .seconds(5)

    private struct Sample {
        var bytes: Int64
        var instant: ContinuousClock.Instant
    }

    /// The samples, oldest first. The newest one is replaced until it is `resolution` away from the one before.
    private var samples: [Sample] = []
    private var lastGrowth: ContinuousClock.Instant?

    package init() {}

    /// Adds a sample of the byte counter.
    ///
    /// A counter that fell means that the download has started over. The meter then starts over too.
    package mutating func sample(bytes: Int64, at instant: ContinuousClock.Instant) {
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
        // The last sample at or before the window's edge is kept, as the start of the measurement.
        let edge = instant - Self.window
        if let first = samples.lastIndex(where: { $0.instant <= edge }), first > 0 {
            samples.removeFirst(first)
        }
    }

    /// Returns the bytes per second at a time; 0 before there are two samples.
    package func bytesPerSecond(at now: ContinuousClock.Instant) -> Int64 {
        guard let oldest = samples.first, let newest = samples.last, samples.count > 1 else { return 0 }
        // A measurement up to now, not up to the last sample, lets the speed of a silent transfer fall.
        let seconds = (max(now, newest.instant) - oldest.instant) / .seconds(1)
        let bytes = newest.bytes.subtractingReportingOverflow(oldest.bytes)
        guard seconds > 0, !bytes.overflow else { return 0 }
        return Int64(exactly: (Double(bytes.partialValue) / seconds).rounded()) ?? .max
    }

    /// Whether no byte has arrived for ``stallsAfter``.
    package func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard let lastGrowth else { return false }
        return now - lastGrowth >= Self.stallsAfter
    }
}
