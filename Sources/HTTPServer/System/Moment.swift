internal import System

/// A point in time of the clock that `ContinuousClock` goes by, in nanoseconds since the system started.
///
/// A plain number, because a connection looks at several with each request: `ContinuousClock.Instant` belongs to a library
/// whose layout the compiler does not know, so every copy and comparison of one goes through the runtime.
struct Moment: Comparable, Sendable {
    let nanoseconds: Int64

    init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    static var now: Moment { Moment(nanoseconds: SystemTime.sinceStart) }

    /// Whole seconds since 1970, for the Date field: the clock that is kept by the system's tick is near enough and cheaper.
    static var secondsSinceEpoch: Int64 { SystemTime.tickSinceEpoch / 1_000_000_000 }

    static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Far times stand for "never": a sum beyond the first or the last moment is that one.
    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: Int64(clamping: Int128(moment.nanoseconds) + duration.attoseconds / 1_000_000_000))
    }

    /// How long it is from this moment to a later one; negative if that is earlier.
    func distance(to later: Moment) -> Duration {
        .nanoseconds(later.nanoseconds &- nanoseconds)
    }
}

/// Translates between moments and the instants that applications are given. An object, so that what holds it has a layout the
/// compiler knows.
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
