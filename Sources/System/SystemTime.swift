internal import Glibc

/// The system's clocks as plain numbers of nanoseconds, which cost less to copy and compare than instants of the standard library.
public enum SystemTime {
    /// Since 1970, as the clock on the wall has it: it can be set.
    public static var sinceEpoch: Int64 { read(CLOCK_REALTIME) }

    /// The same as of the system's last tick, which is cheaper.
    public static var tickSinceEpoch: Int64 { read(CLOCK_REALTIME_COARSE) }

    /// Since the system started, sleep included: what `ContinuousClock` goes by.
    public static var sinceStart: Int64 { read(CLOCK_BOOTTIME) }

    /// By how many seconds the local time of this process is ahead of UTC at a moment: localtime_r(3), by `TZ` or the system's zone.
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
