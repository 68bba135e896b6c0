package import HTTPCore

/// The events that earlier runs of the service have saved.
package struct StoredEventHistory: Sendable {
    /// The newest event id of a saved change.
    package var newest = EventID.none
    /// The event id after which all removals are known; `nil` if no removals are known.
    package var knownSince: EventID?
    /// The known removals, in order of their event ids.
    package var removals: [RemovalHistory.Removal] = []

    package init(newest: EventID = EventID.none, knownSince: EventID? = nil, removals: [RemovalHistory.Removal] = []) {
        self.newest = newest
        self.knownSince = knownSince
        self.removals = removals
    }

    /// Returns the epoch of the next run. It is greater than all earlier epochs, even if the clock was set back.
    package func nextEpoch(now: Timestamp) -> UInt64 {
        let now = UInt64(clamping: now.millisecondsSinceEpoch)
        // An epoch this large was written by another program, and would leave too few for later runs.
        return newest.epoch < Self.largestEpoch / 2 ? max(newest.epoch + 1, now) : now
    }

    /// The largest epoch that is accepted. It leaves enough epochs for later runs.
    package static let largestEpoch: UInt64 = 1 << 61
    /// The number of recent changes that are kept for readers.
    package static let recentChanges = 4_096
}
