public import HTTPCore

/// Makes identifiers that only ever grow, also within one millisecond and when the clock is set back.
public struct DownloadIDGenerator: Sendable {
    private var last: DownloadID?

    /// Starts after the newest identifier already given out, if there is one.
    public init(after last: DownloadID? = nil) {
        self.last = last
    }

    /// Goes on after an identifier that was given out already.
    mutating func pass(_ id: DownloadID) {
        last = max(last ?? id, id)
    }

    /// The next identifier.
    ///
    /// - Parameters:
    ///   - now: The time of creation; times before 1970 or after the year 10889 count as the nearest that 48 bits can say.
    ///   - random: Where the 80 random bits come from.
    public mutating func next(now: Timestamp, using random: inout some RandomNumberGenerator) -> DownloadID {
        let time = UInt128(min(max(now.millisecondsSinceEpoch, 0), (1 << 48) - 1))
        let id: DownloadID
        if let last, time <= last.value >> 80 {
            // The same millisecond, or an earlier one: step on from the last by a random stride, which keeps neighbours hard
            // to guess. At the very end of the range the identifier stays unique for as long as it can.
            let (sum, overflow) = last.value.addingReportingOverflow(UInt128(random.next() >> 32) + 1)
            id = DownloadID(value: overflow ? last.value &+ 1 : sum)
        } else {
            id = DownloadID(value: time << 80 | UInt128(random.next() & 0xFFFF) << 64 | UInt128(random.next()))
        }
        last = id
        return id
    }
}
