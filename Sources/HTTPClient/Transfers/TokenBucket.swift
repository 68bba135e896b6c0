/// Grants a number of bytes per second, in the order of reservations. It has no clock: the time is a parameter.
///
/// A transfer reserves bytes. It may take them once the rate has earned all bytes reserved up to and including these.
/// Each transfer has one reservation at a time, so competing transfers alternate with reservations of equal size, which
/// is fair. Bytes that one transfer leaves unused go to the others.
///
/// The size of a reservation suits the rate at that time. So a change of the rate voids all reservations, even granted
/// ones that are not used up. Each transfer must reserve again.
struct TokenBucket: Sendable {
    /// A reservation.
    struct Reservation: Sendable, Equatable {
        /// The number of bytes; 0 if there was no limit.
        let count: Int
        /// The offset of the reservation's end among all reserved bytes.
        fileprivate let end: Double
        /// The value of ``TokenBucket/changes`` at the time of the reservation.
        fileprivate let changes: UInt64
    }

    /// The maximum time whose unused bytes are kept for later. It compensates for a thread that wakes late, but keeps
    /// the rate within 5 % over 5 s.
    static let slack: Duration = .milliseconds(200)
    /// The maximum bytes of a reservation.
    static let maximumReservation = 256 * 1024
    /// The number of reservations per second.
    private static let reservationsPerSecond: Int64 = 50

    /// The rate in bytes per second; 0: no limit.
    private(set) var rate: Int64
    /// The number of changes of the rate so far. Earlier reservations are void.
    private(set) var changes: UInt64 = 0
    private var earned = 0.0
    private var reserved = 0.0
    /// The reserved bytes that transfers have taken.
    private var taken = 0.0
    private var updated: ContinuousClock.Instant

    /// Creates a bucket without earned bytes.
    init(bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        rate = max(0, bytesPerSecond)
        updated = now
    }

    /// The number of bytes that a reservation should have. It is small enough for an even flow at any rate.
    var reservationSize: Int { min(Self.maximumReservation, max(1, Int(clamping: rate / Self.reservationsPerSecond))) }

    /// Changes the rate from now on, and voids all reservations; 0 removes the limit.
    mutating func setRate(_ bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        earn(until: now)
        // Earned bytes that no transfer has taken are kept; otherwise frequent changes would starve all transfers. Time
        // without a limit earns nothing.
        let left = rate == 0 ? 0 : max(0, earned - taken)
        rate = max(0, bytesPerSecond)
        changes += 1
        (earned, reserved, taken) = (min(left, limit(beyond: 0)), 0, 0)
    }

    /// Whether a reservation was made at the current rate.
    func isValid(_ reservation: Reservation) -> Bool { reservation.changes == changes }

    /// Reserves bytes after all earlier reservations.
    mutating func reserve(_ count: Int, now: ContinuousClock.Instant) -> Reservation {
        earn(until: now)
        guard rate > 0 else { return Reservation(count: 0, end: 0, changes: changes) }
        reserved += Double(max(0, count))
        return Reservation(count: max(0, count), end: reserved, changes: changes)
    }

    /// The time at which a reservation can be taken; nil: now. A void reservation is due now, since its transfer must
    /// reserve again.
    func due(_ reservation: Reservation, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard rate > 0, isValid(reservation) else { return nil }
        let earned = earned(at: now)
        guard reservation.end > earned else { return nil }
        return now + .seconds((reservation.end - earned) / Double(rate))
    }

    /// Takes the bytes of a reservation that is due.
    /// - Returns: False if the reservation is not due, or is void.
    mutating func take(_ reservation: Reservation, now: ContinuousClock.Instant) -> Bool {
        earn(until: now)
        guard isValid(reservation), due(reservation, now: now) == nil else { return false }
        taken += Double(reservation.count)
        return true
    }

    /// Returns unused bytes of a reservation, so that later reservations are due earlier. Bytes of a void reservation
    /// are lost.
    mutating func release(_ count: Int, of reservation: Reservation, now: ContinuousClock.Instant) {
        earn(until: now)
        if rate > 0, isValid(reservation) { earned = min(earned + Double(max(0, count)), limit(beyond: reserved)) }
    }

    /// The maximum of earned bytes for a given number of reserved bytes.
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
