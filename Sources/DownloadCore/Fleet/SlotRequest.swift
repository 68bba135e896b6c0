internal import System

/// A replica's request for slots, which the database grants in the transaction of a group.
package final class SlotRequest: Sendable {
    /// The maximum number of slots that the replica requests.
    package let free: Int
    /// The maximum number of downloads that transfer from one host, over all replicas.
    package let hostLimit: Int
    private let records = Locked<[DownloadRecord]>([])

    package init(free: Int, hostLimit: Int) {
        self.free = free
        self.hostLimit = hostLimit
    }

    /// The downloads that were granted slots. Complete once the group of this request is committed.
    package var granted: [DownloadRecord] { records.withLock { $0 } }

    /// Keeps the downloads to which the database has granted slots.
    package func grant(_ granted: [DownloadRecord]) { records.withLock { $0 = granted } }
}
