public import HTTPCore
internal import System

extension Timestamp {
    /// Reads the system's clock.
    public static func now() -> Timestamp {
        Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000)
    }

    /// Returns the time that is later by this duration.
    package func advanced(by duration: Duration) -> Timestamp {
        Timestamp(
            millisecondsSinceEpoch: millisecondsSinceEpoch.addingReportingOverflow(Int64(duration / .milliseconds(1)))
                .partialValue)
    }
}
