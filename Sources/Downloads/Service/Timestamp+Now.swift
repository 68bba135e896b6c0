internal import Glibc
public import HTTPCore

extension Timestamp {
    /// The system's clock.
    public static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(millisecondsSinceEpoch: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The time so much later.
    func advanced(by duration: Duration) -> Timestamp {
        Timestamp(
            millisecondsSinceEpoch: millisecondsSinceEpoch.addingReportingOverflow(Int64(duration / .milliseconds(1)))
                .partialValue)
    }
}
