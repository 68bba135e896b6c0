internal import DownloadCore
internal import DownloadStore
internal import HTTPCore

/// Decides when the store keeps the trusted time: while the wall clock is ahead of it. Otherwise a service that restarts
/// with the wrong clock would trust that clock, because records have been saved with its times. Pure.
struct TrustedTimeKeeper: Sendable {
    /// Whether the store keeps the trusted time.
    private var isKept: Bool
    /// The latest time that records may contain from a clock that was not trusted.
    private var latest = Timestamp(millisecondsSinceEpoch: 0)

    /// Begins with the settings in the store.
    init(_ settings: [String: String]) {
        isKept = settings[StoredContents.trustedTimeName] != nil
    }

    /// Notes the present time before records are saved with it.
    /// - Returns: The change to store before those records; `nil`: none.
    mutating func note(_ reading: ServiceClock.Reading) -> StoreChange? {
        if reading.isOnProbation { latest = max(latest, reading.wall) }
        guard reading.isOnProbation != isKept else { return nil }
        isKept = reading.isOnProbation
        // Removed only if the clock has reached the times of all records. A clock that was set back has not.
        let isReached = !reading.isOnProbation && reading.trusted >= latest
        return .set(
            name: StoredContents.trustedTimeName, value: isReached ? nil : String(reading.trusted.millisecondsSinceEpoch))
    }
}
