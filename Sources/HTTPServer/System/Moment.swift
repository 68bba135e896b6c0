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

    /// Far times stand for "never", so the sum stops at the last one.
    static func + (moment: Moment, span: Span) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return Moment(nanoseconds: overflow ? .max : sum)
    }

    /// How long it is from this moment to a later one; negative if that is earlier.
    func distance(to later: Moment) -> Span {
        Span(nanoseconds: later.nanoseconds &- nanoseconds)
    }

    /// A length of time as a plain number.
    struct Span: Comparable, Sendable {
        let nanoseconds: Int64

        init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// That length; more than 292 years are as good as forever.
        init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
            nanoseconds = overflow || carry ? (seconds < 0 ? .min : .max) : sum
        }

        static func < (left: Span, right: Span) -> Bool { left.nanoseconds < right.nanoseconds }

        /// A part of it.
        func divided(by divisor: Int64) -> Span { Span(nanoseconds: nanoseconds / divisor) }

        /// In seconds, for rates.
        var seconds: Double { Double(nanoseconds) / 1e9 }
    }
}

/// Translates between moments and the instants that applications are given. An object, so that what holds it has a layout the
/// compiler knows.
final class MomentTranslation: Sendable {
    private let instant = ContinuousClock.now
    private let moment = Moment.now

    func instant(of moment: Moment) -> ContinuousClock.Instant {
        instant + .nanoseconds(self.moment.distance(to: moment).nanoseconds)
    }

    func moment(of instant: ContinuousClock.Instant) -> Moment {
        moment + Moment.Span(self.instant.duration(to: instant))
    }
}
