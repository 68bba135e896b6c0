internal import System

/// Measures how long something takes. A number rather than a `ContinuousClock.Instant`, whose layout the compiler doesn't know:
/// each request has one.
struct Stopwatch: Sendable {
    private let begun = SystemTime.sinceStart

    /// Nanoseconds since it was made.
    var nanoseconds: Int64 { SystemTime.sinceStart &- begun }
}
