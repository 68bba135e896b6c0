internal import Glibc

/// Measures how long something takes. A number rather than a `ContinuousClock.Instant`, whose layout the compiler doesn't know:
/// each request has one.
struct Stopwatch: Sendable {
    private let begun = Self.read()

    /// Nanoseconds since it was made.
    var nanoseconds: Int64 { Self.read() &- begun }

    private static func read() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
