/// The last removals in the order of their event ids, up to a bound. Readers that come back learn from them which
/// downloads no longer exist.
package struct RemovalHistory: Sendable {
    package struct Removal: Sendable, Equatable {
        package var changeID: EventID
        package var id: RecordID
        /// The number of the publication in this instance; 0 for a removal of an earlier one.
        package var publication: UInt64 = 0

        package init(changeID: EventID, id: RecordID, publication: UInt64 = 0) {
            self.changeID = changeID
            self.id = id
            self.publication = publication
        }
    }

    /// The number of removals to keep. Each takes 48 bytes in memory and about as many in the store,
    /// so both stay below 1 MiB.
    package static let capacity = 16_384

    /// The event id after which every removal is known.
    package private(set) var knownSince: EventID
    private var removals: [Removal]
    private let capacity: Int

    /// Creates a history.
    /// - Parameters:
    ///   - knownSince: The event id after which `removals` has every removal.
    ///   - removals: The removals in the order of their event ids.
    ///   - capacity: The number of removals to keep.
    package init(knownSince: EventID = .none, _ removals: [Removal] = [], capacity: Int = RemovalHistory.capacity) {
        self.knownSince = knownSince
        self.removals = removals
        self.capacity = max(1, capacity)
        trim()
    }

    /// Inserts a removal, which nearly always is the newest.
    package mutating func insert(_ removal: Removal) {
        var place = removals.count
        while place > 0, removals[place - 1].changeID > removal.changeID { place -= 1 }
        removals.insert(removal, at: place)
        trim()
    }

    /// Returns the first removals with later event ids.
    package func removals(after changeID: EventID, atMost limit: Int) -> [Removal] {
        var low = 0
        var high = removals.count
        while low < high {
            let middle = (low + high) / 2
            if removals[middle].changeID <= changeID { low = middle + 1 } else { high = middle }
        }
        return Array(removals[low...].prefix(limit))
    }

    private mutating func trim() {
        // Each time, all kept removals are moved. Removals are therefore dropped rarely, and many at once.
        guard removals.count > capacity + capacity / 8 else { return }
        let dropped = removals.count - capacity
        knownSince = max(knownSince, removals[dropped - 1].changeID)
        removals.removeFirst(dropped)
    }
}
