internal import HTTPCore
internal import System

/// The clock on the wall, and the time by which the service deletes.
final class ServiceClock: Sendable {
    private let wall: @Sendable () -> Timestamp
    private let trust: Locked<ClockTrust>

    /// - Parameters:
    ///   - wall: reads the clock on the wall.
    ///   - lastKnown: the newest time that an earlier run has recorded.
    ///   - probation: how long a time that lies ahead has to hold.
    init(_ wall: @escaping @Sendable () -> Timestamp, lastKnown: Timestamp?, probation: Duration) {
        self.wall = wall
        trust = Locked(ClockTrust(lastKnown: lastKnown, wall: wall(), uptime: Self.uptime, probation: probation))
    }

    /// The clock on the wall.
    var now: Timestamp { wall() }

    /// The time by which may be deleted, and whether it is behind the clock on the wall.
    var trusted: (time: Timestamp, isOnProbation: Bool) {
        let (wall, uptime) = (wall(), Self.uptime)
        return trust.withLock { ($0.time(wall: wall, uptime: uptime), $0.isOnProbation) }
    }

    private static var uptime: Duration { .nanoseconds(SystemTime.sinceStart) }
}
