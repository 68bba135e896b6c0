public import HTTPCore

/// A source of identifiers that only grow, even within one millisecond and when the clock is set back.
public struct RecordIDGenerator: Sendable {
    private var last: RecordID?

    /// Creates a generator that continues after the newest identifier in use, if there is one.
    public init(after last: RecordID? = nil) {
        self.last = last
    }

    /// Makes all further identifiers greater than this one.
    package mutating func pass(_ id: RecordID) {
        last = max(last ?? id, id)
    }

    /// Returns the next identifier.
    ///
    /// - Parameters:
    ///   - now: The time of creation. Times before 1970 or after the year 10889 count as the
    ///     nearest that 48 bits can hold.
    ///   - random: The source of the 80 random bits.
    public mutating func next(now: Timestamp, using random: inout some RandomNumberGenerator) -> RecordID {
        let time = UInt128(min(max(now.millisecondsSinceEpoch, 0), (1 << 48) - 1))
        let id: RecordID
        if let last, time <= last.value >> 80 {
            // The time has not advanced. A random stride from the last identifier keeps neighbours hard to guess. At
            // the very end of the range, steps of 1 keep identifiers unique as long as possible.
            let (sum, overflow) = last.value.addingReportingOverflow(UInt128(random.next() >> 32) + 1)
            id = RecordID(value: overflow ? last.value &+ 1 : sum)
        } else {
            id = RecordID(value: time << 80 | UInt128(random.next() & 0xFFFF) << 64 | UInt128(random.next()))
        }
        last = id
        return id
    }
}
