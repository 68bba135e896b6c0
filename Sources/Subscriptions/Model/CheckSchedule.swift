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
        /// The difference in seconds between the clocks of two replicas that is no fault.
        static let skew: Int64 = 60
    }

    /// The interval that the user has chosen, in seconds.
    public var every: Int64
    /// The interval that the feed asks for, in seconds; `nil` if it asks for none.
    public var hint: Int64?
    /// The number of failures since the last success.
    public var failures = 0

    /// The interval to the next check in seconds, before it is spread.
    ///
    /// A feed can only make it longer, up to a day. After failures it is 300 s, doubled by each further one, up to a day;
    /// that may be shorter than the user's choice. A server's `Retry-After` counts in both cases.
    public var interval: Int64 {
        guard failures > 0 else { return max(every, asked) }
        let delay = failures > 9 ? Limits.day : min(Limits.shortest << Int64(failures - 1), Limits.day)
        return max(delay, asked)
    }

    /// The interval that the feed asks for, up to a day.
    private var asked: Int64 { min(hint ?? 0, Limits.day) }

    /// Returns the time of the next check.
    ///
    /// A check that was the first, or was late, may have been one of many at once. Therefore the next one is at any time from
    /// the shortest interval that the feed permits.
    /// - Parameters:
    ///   - now: The time of the last check.
    ///   - plan: The time for which it was planned; `nil` if it was the first.
    ///   - random: A number of 0 up to 1, which spreads the interval by a tenth in both directions.
    public func next(after now: Timestamp, planned plan: Timestamp?, random: Double) -> Timestamp {
        let length = Double(interval) * 1000
        let longest = length * 1.1
        var shortest = length * 0.9
        if plan.map({ Double(now.millisecondsSinceEpoch - $0.millisecondsSinceEpoch) > length / 10 }) ?? true {
            shortest = min(shortest, Double(max(Limits.shortest, asked)) * 1000)
        }
        let wait = shortest + (longest - shortest) * random
        return Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(wait))
    }

    /// Returns the wait for a planned check in milliseconds, from 0.
    ///
    /// A plan of a clock that was wrong is void, and its check is due: the last check lies in the future, or the plan is
    /// further from it than any interval.
    /// - Parameters:
    ///   - plan: The planned time.
    ///   - last: The time of the last check; `nil` before the first one.
    public func wait(until plan: Timestamp, after last: Timestamp?, now: Timestamp) -> Int64 {
        let time = now.millisecondsSinceEpoch
        guard let last = last?.millisecondsSinceEpoch, last <= time + Limits.skew * 1000,
            plan.millisecondsSinceEpoch - last <= max(interval, Limits.day) * 1100 + Limits.skew * 1000
        else { return 0 }
        return max(0, plan.millisecondsSinceEpoch - time)
    }

    /// Returns whether a check reads the whole listing, despite its validators. One check a day does: some servers
    /// answer that nothing has changed although an item with an earlier date is new.
    /// - Parameter last: The time of the last whole listing; `nil` for none.
    public static func readsAll(after last: Timestamp?, now: Timestamp) -> Bool {
        guard let last else { return true }
        return !(0..<Limits.day * 1000).contains(now.millisecondsSinceEpoch - last.millisecondsSinceEpoch)
    }
}
