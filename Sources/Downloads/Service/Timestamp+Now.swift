public import HTTPCore
internal import System

extension Timestamp {
    /// The system's clock.
    public static func now() -> Timestamp {
        Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000)
    }

    /// The time so much later.
    func advanced(by duration: Duration) -> Timestamp {
        Timestamp(
            millisecondsSinceEpoch: millisecondsSinceEpoch.addingReportingOverflow(Int64(duration / .milliseconds(1)))
                .partialValue)
    }
}
