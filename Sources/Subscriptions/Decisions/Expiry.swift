/// Decides which taken items make room for newer ones.
public enum Expiry {
    /// The state of the download of a taken item.
    public enum Holding: Sendable, Equatable {
        /// It is queued, paused or in transfer.
        case live
        /// Its file is finished.
        case finished
        /// It failed, was cancelled, or is deleted.
        case ended
    }

    /// Returns the keys of the items that expire, the oldest first.
    ///
    /// Only finished downloads count: one in transfer may yet fail, and an older file is better than none. Those expire
    /// that the subscription made itself. Items that were taken by hand neither count nor expire.
    /// - Parameters:
    ///   - items: The taken items with the states of their downloads.
    ///   - keep: The number of items to keep, from 1.
    public static func expired(_ items: [(item: KnownItem, holding: Holding)], keep: Int) -> [String] {
        let counted = items.filter { !$0.item.isByHand && $0.holding == .finished }.sorted { left, right in
            // Items with equal dates must not be ordered as the records are.
            (right.item.date, right.item.key) < (left.item.date, left.item.key)
        }
        return counted.dropFirst(keep).filter(\.item.isMade).reversed().map(\.item.key)
    }
}
