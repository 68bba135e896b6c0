#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The time of day, for the fields of HTTP that need one.
enum WallClock {
    static var secondsSinceEpoch: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}
