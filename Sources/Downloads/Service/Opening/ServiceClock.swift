internal import HTTPCore
internal import System

/// The wall clock, and the trusted time by which the service deletes.
final class ServiceClock: Sendable {
    private let wall: @Sendable () -> Timestamp
    private let trust: Locked<ClockTrust>

    /// Makes the clock.
    /// - Parameters:
    ///   - wall: Reads the wall clock.
    ///   - lastKnown: The latest time that an earlier instance has recorded; `nil`: none.
    ///   - probation: The time for which a time that is ahead must hold until it is trusted.
    init(_ wall: @escaping @Sendable () -> Timestamp, lastKnown: Timestamp?, probation: Duration) {
        self.wall = wall
        trust = Locked(ClockTrust(lastKnown: lastKnown, wall: wall(), uptime: Self.uptime, probation: probation))
    }

    var now: Timestamp { wall() }

    /// The times at one moment.
    struct Reading: Sendable {
        /// The time by which records and files may be deleted.
        let trusted: Timestamp
        /// The time of the wall clock.
        let wall: Timestamp
        /// Whether the wall clock is ahead of the trusted time.
        let isOnProbation: Bool
    }

    var reading: Reading {
        let (wall, uptime) = (wall(), Self.uptime)
        return trust.withLock {
            Reading(trusted: $0.time(wall: wall, uptime: uptime), wall: wall, isOnProbation: $0.isOnProbation)
        }
    }

    private static var uptime: Duration { .nanoseconds(SystemTime.sinceStart) }
}
