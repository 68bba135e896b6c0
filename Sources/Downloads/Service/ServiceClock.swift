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

    /// The time by which records and files may be deleted, and whether it is behind the wall clock.
    var trusted: (time: Timestamp, isOnProbation: Bool) {
        let (wall, uptime) = (wall(), Self.uptime)
        return trust.withLock { ($0.time(wall: wall, uptime: uptime), $0.isOnProbation) }
    }

    private static var uptime: Duration { .nanoseconds(SystemTime.sinceStart) }
}
