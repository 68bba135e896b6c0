internal import Glibc

/// The system's clocks in nanoseconds, as integers. They are cheaper to copy and compare than instants of the standard
/// library.
public enum SystemTime {
    /// The time since 1970 by the wall clock, which can be set.
    public static var sinceEpoch: Int64 { read(CLOCK_REALTIME) }

    /// The time since 1970 at the system's last tick, which is cheaper to read.
    public static var tickSinceEpoch: Int64 { read(CLOCK_REALTIME_COARSE) }

    /// The time since the system started, sleep included. `ContinuousClock` uses the same clock.
    public static var sinceStart: Int64 { read(CLOCK_BOOTTIME) }

    /// The offset of the local time zone from UTC at a moment, in seconds, positive to the east (localtime_r(3)). The
    /// zone is `TZ`'s or the system's.
    public static func localOffset(secondsSinceEpoch: Int64) -> Int {
        var seconds = time_t(secondsSinceEpoch)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
        return unsafe parts.tm_gmtoff
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
