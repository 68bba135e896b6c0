internal import System

/// A point in time of the clock of `ContinuousClock`, in nanoseconds since the system started.
///
/// A plain number is faster, because a connection compares several moments per request. The compiler lacks the layout
/// of `ContinuousClock.Instant`, so every copy and comparison of one would go through the runtime.
struct Moment: Comparable, Sendable {
    let nanoseconds: Int64

    init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    static var now: Moment { Moment(nanoseconds: SystemTime.sinceStart) }

    /// The seconds since 1970, for the Date field. The clock of the system's tick is precise enough and cheaper to
    /// read.
    static var secondsSinceEpoch: Int64 { SystemTime.tickSinceEpoch / 1_000_000_000 }

    static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Adds with saturation at the first and last moments, because distant times represent "never".
    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: Int64(clamping: Int128(moment.nanoseconds) + duration.attoseconds / 1_000_000_000))
    }

    /// The time from this moment to a later one; negative if the other one is earlier.
    func distance(to later: Moment) -> Duration {
        .nanoseconds(later.nanoseconds &- nanoseconds)
    }
}

/// Translates between moments and the instants of applications. It is a class, so that types that contain it have a
/// layout known to the compiler.
final class MomentTranslation: Sendable {
    private let instant = ContinuousClock.now
    private let moment = Moment.now

    func instant(of moment: Moment) -> ContinuousClock.Instant {
        instant + self.moment.distance(to: moment)
    }

    func moment(of instant: ContinuousClock.Instant) -> Moment {
        moment + self.instant.duration(to: instant)
    }
}
