/// The last removals, in order of their stamps, up to a bound: what a reader that comes back is told that it need not keep any more.
struct RemovalHistory: Sendable {
    struct Removal: Sendable, Equatable {
        var stamp: EventID
        var id: DownloadID
        /// Which publication of this run it was; 0 for one of an earlier run.
        var publication: UInt64 = 0
    }

    /// Removals kept. One costs 48 bytes in memory and about as much in the store, so the bound is less than 1 MiB each.
    static let capacity = 16_384

    /// Every removal with a later stamp is known.
    private(set) var knownSince: EventID
    private var removals: [Removal]
    private let capacity: Int

    /// - Parameters:
    ///   - knownSince: every removal with a later stamp is among these.
    ///   - removals: in order of their stamps.
    init(knownSince: EventID = .none, _ removals: [Removal] = [], capacity: Int = RemovalHistory.capacity) {
        self.knownSince = knownSince
        self.removals = removals
        self.capacity = max(1, capacity)
        trim()
    }

    /// Inserts a removal: nearly always the newest.
    mutating func insert(_ removal: Removal) {
        var place = removals.count
        while place > 0, removals[place - 1].stamp > removal.stamp { place -= 1 }
        removals.insert(removal, at: place)
        trim()
    }

    /// The first removals with a later stamp.
    func removals(after stamp: EventID, atMost limit: Int) -> [Removal] {
        var low = 0
        var high = removals.count
        while low < high {
            let middle = (low + high) / 2
            if removals[middle].stamp <= stamp { low = middle + 1 } else { high = middle }
        }
        return Array(removals[low...].prefix(limit))
    }

    private mutating func trim() {
        // Seldom, and then many at once: each time all that stay are moved.
        guard removals.count > capacity + capacity / 8 else { return }
        let dropped = removals.count - capacity
        knownSince = max(knownSince, removals[dropped - 1].stamp)
        removals.removeFirst(dropped)
    }
}
