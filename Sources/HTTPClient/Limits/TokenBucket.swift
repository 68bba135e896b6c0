/// Deals out a number of bytes per second in turns, first come, first served. Pure: it is told the time.
///
/// Whoever wants bytes reserves a turn, and may have them once the rate has earned all that was reserved up to and including
/// it. As a transfer has one turn at a time, those that want more than there is take turns of equal size, which is a fair share;
/// what one leaves unused falls to the others. A turn is a place in a row of bytes and not a time, so a new rate counts
/// at once for those that already wait.
struct TokenBucket: Sendable {
    /// A place in the row.
    struct Turn: Sendable, Equatable {
        /// How many bytes it is for; 0 if there was no limit.
        let count: Int
        /// Where it ends among all bytes reserved so far.
        fileprivate let end: Double
    }

    /// How much unused budget is kept for later, as time at the full rate: enough to make up for a thread that wakes late, and
    /// little enough to stay within 5 % over 5 s.
    static let slack: Duration = .milliseconds(200)
    /// The most bytes of a turn.
    static let largestTurn = 256 * 1024
    /// How many turns the rate is divided into, per second.
    private static let turnsPerSecond: Int64 = 50

    /// Bytes per second; 0: no limit.
    private(set) var rate: Int64
    private var earned = 0.0
    private var reserved = 0.0
    private var updated: ContinuousClock.Instant

    /// A bucket that has nothing yet.
    init(bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        rate = max(0, bytesPerSecond)
        updated = now
    }

    /// How many bytes a turn should be for: small enough that bytes flow evenly at any rate.
    var turnSize: Int { min(Self.largestTurn, max(1, Int(clamping: rate / Self.turnsPerSecond))) }

    /// Changes the rate from now on; 0 lifts the limit.
    mutating func setRate(_ bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        earn(until: now)
        // What nobody limited has not saved anything up.
        if rate == 0 { earned = reserved }
        rate = max(0, bytesPerSecond)
    }

    /// Takes the next place in the row.
    mutating func reserve(_ count: Int, now: ContinuousClock.Instant) -> Turn {
        earn(until: now)
        guard rate > 0 else { return Turn(count: 0, end: 0) }
        reserved += Double(max(0, count))
        return Turn(count: max(0, count), end: reserved)
    }

    /// When the bytes of a turn may be had; nil: now.
    mutating func due(_ turn: Turn, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        earn(until: now)
        guard rate > 0, turn.end > earned else { return nil }
        return now + .seconds((turn.end - earned) / Double(rate))
    }

    /// Takes back bytes that were reserved and will not be used: those that wait move up.
    mutating func giveBack(_ count: Int, now: ContinuousClock.Instant) {
        earn(until: now)
        if rate > 0 { earned = min(earned + Double(max(0, count)), limit) }
    }

    /// Beyond this nothing is saved up.
    private var limit: Double { reserved + Double(rate) * (Self.slack / .seconds(1)) }

    private mutating func earn(until now: ContinuousClock.Instant) {
        let seconds = max(0, (now - updated) / .seconds(1))
        updated = max(updated, now)
        earned = min(earned + seconds * Double(rate), limit)
    }
}
