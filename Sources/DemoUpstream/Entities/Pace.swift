/// A speed limit of a body in bytes per second, spent in small even portions instead of bursts.
package struct Pace: Sendable {
    /// The limit; 0 means unlimited.
    let bytesPerSecond: Int64
    /// The bytes sent at a time: for a fiftieth of a second, at most 64 KiB.
    let portion: Int64
    private var began: ContinuousClock.Instant?
    private var sent: Int64 = 0

    enum Allowance: Equatable {
        /// This many bytes may be sent now, at least 1.
        case send(Int64)
        case wait(until: ContinuousClock.Instant)
    }

    package init(bytesPerSecond: Int64) {
        self.bytesPerSecond = max(0, bytesPerSecond)
        portion = min(65_536, max(1, self.bytesPerSecond / 50))
    }

    /// The number of `wanted` bytes that may be sent now. The first portion is free; N bytes take at least (N −
    /// `portion`) / `bytesPerSecond` seconds.
    mutating func allowance(for wanted: Int64, now: ContinuousClock.Instant) -> Allowance {
        guard bytesPerSecond > 0 else { return .send(wanted) }
        let began = self.began ?? now
        self.began = began
        let earned = Self.bytes(in: now - began, at: bytesPerSecond) + portion
        let due = min(wanted, portion)
        if earned - sent >= due {
            // A reader that paused does not receive the missed bytes in one burst.
            if earned - sent > 8 * portion { sent = earned - 8 * portion }
            return .send(due)
        }
        let missing = due + sent - portion
        return .wait(until: began + Self.duration(of: missing, at: bytesPerSecond))
    }

    /// Counts bytes as sent.
    mutating func spend(_ count: Int64) { sent += count }

    private static func bytes(in duration: Duration, at rate: Int64) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: rate)
        if whole.overflow { return .max / 2 }
        // Whole microseconds keep the product within 64 bits for rates up to 9 TB/s.
        let rest = (attoseconds / 1_000_000_000_000).multipliedReportingOverflow(by: rate)
        return min(.max / 2, whole.partialValue) + (rest.overflow ? 0 : rest.partialValue / 1_000_000)
    }

    private static func duration(of count: Int64, at rate: Int64) -> Duration {
        let seconds = count / rate
        let rest = (count % rate).multipliedReportingOverflow(by: 1_000_000)
        // One microsecond more, so that the time suffices despite rounding.
        return .seconds(seconds) + .microseconds(rest.overflow ? 1_000_000 : rest.partialValue / rate + 1)
    }
}
