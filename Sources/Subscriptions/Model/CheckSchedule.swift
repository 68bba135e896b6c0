public import HTTPCore

/// Decides when a subscription is checked next.
public struct CheckSchedule: Sendable, Equatable {
    /// The limits of intervals in seconds.
    public enum Limits {
        /// The shortest interval that a user may choose.
        public static let shortest: Int64 = 300
        /// The longest interval that a user may choose: a year.
        public static let longest: Int64 = 366 * 86_400
        /// The interval without a choice.
        public static let standard: Int64 = 3_600
        /// The longest interval that a feed may ask for, and the longest delay after failures.
        public static let day: Int64 = 86_400
    }

    /// The interval that the user has chosen, in seconds.
    public var every: Int64
    /// The interval that the feed asks for, in seconds; `nil` if it asks for none.
    public var hint: Int64?
    /// The number of failures since the last success.
    public var failures: Int

    /// Creates a schedule.
    public init(every: Int64, hint: Int64? = nil, failures: Int = 0) {
        self.every = every
        self.hint = hint
        self.failures = failures
    }

    /// The interval to the next check in seconds, before it is spread.
    ///
    /// A feed can only make it longer, up to a day. After failures it is 300 s, doubled by each further one, up to a day;
    /// that may be shorter than the user's choice. A server's `Retry-After` counts in both cases.
    public var interval: Int64 {
        let asked = min(hint ?? 0, Limits.day)
        guard failures > 0 else { return max(every, asked) }
        let delay = failures > 9 ? Limits.day : min(Limits.shortest << Int64(failures - 1), Limits.day)
        return max(delay, asked)
    }

    /// Returns the time of the next check.
    /// - Parameters:
    ///   - now: The time of the last check.
    ///   - random: A number of 0 up to 1, which spreads the interval by a tenth in both directions.
    public func next(after now: Timestamp, random: Double) -> Timestamp {
        let milliseconds = Double(interval) * 1000 * (0.9 + 0.2 * random)
        return Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(milliseconds))
    }

    /// Returns the time of a check that was due at `due`, looked at from `now`.
    ///
    /// A clock that was set back must not delay checks for longer than their interval.
    public func corrected(_ due: Timestamp, now: Timestamp) -> Timestamp {
        let latest = Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + interval * 1100)
        return min(due, latest)
    }
}
