/// Grants a number of bytes per second in turns, first come, first served. Pure: the time is passed in.
///
/// A transfer reserves a turn, and may take its bytes once the rate has earned everything that was reserved up to and including it. As a
/// transfer has one turn at a time, transfers that want more than there is take turns of equal size, which is a fair share. Bytes that one
/// transfer leaves unused go to the others.
///
/// A turn has the size that suits the rate at which it was reserved. Therefore another rate voids all turns, those that were granted and
/// are not used up included: each transfer has to reserve a new one. Nobody waits for, or uses, an amount that was meant for another rate.
struct TokenBucket: Sendable {
    /// A place in the row.
    struct Turn: Sendable, Equatable {
        /// The number of bytes; 0 if there was no limit.
        let count: Int
        /// The end of the turn among all bytes reserved so far.
        fileprivate let end: Double
        /// The rate's number, see ``TokenBucket/changes``.
        fileprivate let changes: UInt64
    }

    /// The longest time whose budget is kept for later if it was not used. It makes up for a thread that wakes late, and stays within 5 %
    /// over 5 s.
    static let slack: Duration = .milliseconds(200)
    /// The most bytes of a turn.
    static let largestTurn = 256 * 1024
    /// The number of turns that a second of the rate is divided into.
    private static let turnsPerSecond: Int64 = 50

    /// Bytes per second; 0: no limit.
    private(set) var rate: Int64
    /// The number of changes of the rate so far. A turn that was reserved before the last one is void.
    private(set) var changes: UInt64 = 0
    private var earned = 0.0
    private var reserved = 0.0
    /// The reserved bytes that transfers have taken.
    private var taken = 0.0
    private var updated: ContinuousClock.Instant

    /// Makes a bucket that has nothing yet.
    init(bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        rate = max(0, bytesPerSecond)
        updated = now
    }

    /// The number of bytes that a turn should have: small enough that bytes flow evenly at any rate.
    var turnSize: Int { min(Self.largestTurn, max(1, Int(clamping: rate / Self.turnsPerSecond))) }

    /// Changes the rate from now on, and voids all turns; 0 lifts the limit.
    mutating func setRate(_ bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        earn(until: now)
        // Earned bytes that no transfer has taken stay earned, or frequent changes would leave nothing to anybody. Time without a limit
        // has earned nothing.
        let left = rate == 0 ? 0 : max(0, earned - taken)
        rate = max(0, bytesPerSecond)
        changes += 1
        (earned, reserved, taken) = (min(left, limit(beyond: 0)), 0, 0)
    }

    /// Whether a turn was reserved at the present rate.
    func isValid(_ turn: Turn) -> Bool { turn.changes == changes }

    /// Takes the next place in the row.
    mutating func reserve(_ count: Int, now: ContinuousClock.Instant) -> Turn {
        earn(until: now)
        guard rate > 0 else { return Turn(count: 0, end: 0, changes: changes) }
        reserved += Double(max(0, count))
        return Turn(count: max(0, count), end: reserved, changes: changes)
    }

    /// The time at which the bytes of a turn may be had; nil: now. A void turn is due now: its transfer has to reserve another one.
    func due(_ turn: Turn, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard rate > 0, isValid(turn) else { return nil }
        let earned = earned(at: now)
        guard turn.end > earned else { return nil }
        return now + .seconds((turn.end - earned) / Double(rate))
    }

    /// Takes the bytes of a turn that is due.
    /// - Returns: false if the turn is not due, or void.
    mutating func take(_ turn: Turn, now: ContinuousClock.Instant) -> Bool {
        earn(until: now)
        guard isValid(turn), due(turn, now: now) == nil else { return false }
        taken += Double(turn.count)
        return true
    }

    /// Takes back bytes of a turn that will not be used: the turns that wait move up. Those of a void turn are gone.
    mutating func giveBack(_ count: Int, of turn: Turn, now: ContinuousClock.Instant) {
        earn(until: now)
        if rate > 0, isValid(turn) { earned = min(earned + Double(max(0, count)), limit(beyond: reserved)) }
    }

    /// Beyond this nothing is saved up.
    private func limit(beyond reserved: Double) -> Double { reserved + Double(rate) * (Self.slack / .seconds(1)) }

    private mutating func earn(until now: ContinuousClock.Instant) {
        earned = earned(at: now)
        updated = max(updated, now)
    }

    private func earned(at now: ContinuousClock.Instant) -> Double {
        let seconds = max(0, (now - updated) / .seconds(1))
        return min(earned + seconds * Double(rate), limit(beyond: reserved))
    }
}
