internal import DownloadCore

/// A check that has taken long, as the service sees it when others wait.
struct SlowCheck: Sendable {
    let id: RecordID
    let begun: ContinuousClock.Instant
    /// Whether the last check of the subscription failed.
    let hasFailed: Bool
    /// Whether the listing has been requested and has not arrived. Only such a check can be ended.
    let isListing: Bool

    /// Returns the check whose listing is ended; `nil` if there are no more than `limit`, or none can be ended. One that failed
    /// last time comes first, then the one that began first.
    static func ending(of checks: [SlowCheck], limit: Int) -> RecordID? {
        guard checks.count > limit else { return nil }
        return checks.filter(\.isListing).min { left, right in
            left.hasFailed == right.hasFailed ? left.begun < right.begun : left.hasFailed
        }?.id
    }
}
