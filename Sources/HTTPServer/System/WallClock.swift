internal import Glibc

/// The time of day, for the Date field; everything else goes by the continuous clock.
enum WallClock {
    /// Whole seconds since 1970.
    static var secondsSinceEpoch: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}
