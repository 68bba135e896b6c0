package import DownloadCore

/// The last changes in the order of their publication, up to a bound. A reader that fell behind or came back can still
/// receive them one by one.
package struct EventHistory: Sendable {
    package enum Change: Sendable {
        case transition(Download)
        case removal(RecordID)

        var downloadID: RecordID {
            switch self {
            case .transition(let download): download.id
            case .removal(let id): id
            }
        }
    }

    package struct Item: Sendable {
        package var change: Change
        /// The count in the change's own event id.
        package var changeID: UInt64
        /// The count in the id that the event is sent with. Every change up to this count has been published.
        ///
        /// It is less than `changeID` while an earlier event id is reserved and not yet published.
        package var sequence: UInt64
    }

    /// The number of changes to keep. Each takes about 300 bytes and its texts.
    static let defaultCapacity = StoredEventHistory.recentChanges

    /// The publication of the newest change.
    package private(set) var newest: UInt64 = 0
    /// The count of an event id. Every change with a later id is held.
    package private(set) var base: UInt64 = 0
    private var ring: [Item] = []
    /// The publication before the first one that was ever held.
    private var start: UInt64 = 0
    private let capacity: Int

    package init(capacity: Int = EventHistory.defaultCapacity) {
        self.capacity = max(1, capacity)
    }

    /// The publication of the oldest change that is still held.
    package var oldest: UInt64 { newest - UInt64(ring.count) + 1 }

    /// Starts the history after changes that were published before there were readers.
    package mutating func begin(after publication: UInt64, base: UInt64) {
        start = publication
        newest = publication
        self.base = base
    }

    /// Adds the next change.
    package mutating func append(_ item: Item) {
        newest += 1
        if ring.count < capacity {
            ring.append(item)
        } else {
            base = max(base, ring[index(of: newest)].changeID)
            ring[index(of: newest)] = item
        }
    }

    /// Whether every change after a publication is still held.
    func holdsEverything(after publication: UInt64) -> Bool {
        publication >= newest || publication + 1 >= oldest
    }

    /// The change of this publication; `nil` if it is not held.
    package subscript(publication: UInt64) -> Item? {
        guard publication >= oldest, publication <= newest else { return nil }
        return ring[index(of: publication)]
    }

    /// Returns the publication after which a reader continues that has received everything up to an event id.
    ///
    /// `nil` if later changes are no longer held.
    package func publication(after sequence: UInt64) -> UInt64? {
        guard sequence >= base else { return nil }
        var low = oldest
        var high = newest + 1
        while low < high {
            let middle = (low + high) / 2
            if ring[index(of: middle)].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        // A reader with this id has surely received the first change sent with it only if the
        // change's own id is not later.
        guard let item = self[low], item.sequence == sequence, item.changeID <= sequence else { return low - 1 }
        return low
    }

    private func index(of publication: UInt64) -> Int { Int((publication - start - 1) % UInt64(capacity)) }
}
