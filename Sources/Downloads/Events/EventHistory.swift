/// The last changes of this run, in the order of their publication, up to a bound: what a reader that fell behind, or came back, can
/// still be sent one by one.
struct EventHistory: Sendable {
    enum Change: Sendable {
        case transition(Download)
        case removal(DownloadID)

        var downloadID: DownloadID {
            switch self {
            case .transition(let download): download.id
            case .removal(let id): id
            }
        }
    }

    struct Item: Sendable {
        var change: Change
        /// The number of its stamp.
        var stamp: UInt64
        /// Every change with a stamp up to this one has been published: the sequence that the event is sent under. It is less than
        /// the stamp while an earlier one is reserved and not yet published.
        var sequence: UInt64
    }

    /// Changes kept: about 300 bytes each, and what their texts take.
    static let defaultCapacity = 4_096

    /// The publication of the newest change.
    private(set) var newest: UInt64 = 0
    /// Every change with a later stamp is held.
    private(set) var base: UInt64 = 0
    private var ring: [Item] = []
    /// The publication before the first that was ever held.
    private var start: UInt64 = 0
    private let capacity: Int

    init(capacity: Int = EventHistory.defaultCapacity) {
        self.capacity = max(1, capacity)
    }

    /// The publication of the oldest change that is still held.
    var oldest: UInt64 { newest - UInt64(ring.count) + 1 }

    /// Takes it that all changes up to now were published before anybody could read.
    mutating func begin(after publication: UInt64, base: UInt64) {
        start = publication
        newest = publication
        self.base = base
    }

    /// Adds the next change.
    mutating func append(_ item: Item) {
        newest += 1
        if ring.count < capacity {
            ring.append(item)
        } else {
            base = max(base, ring[index(of: newest)].stamp)
            ring[index(of: newest)] = item
        }
    }

    /// Whether everything after a publication is still held.
    func holdsEverything(after publication: UInt64) -> Bool {
        publication >= newest || publication + 1 >= oldest
    }

    /// The change of this publication, if it is held.
    subscript(publication: UInt64) -> Item? {
        guard publication >= oldest, publication <= newest else { return nil }
        return ring[index(of: publication)]
    }

    /// The publication after which a reader goes on that has been sent everything up to this sequence; `nil` if what came then is no
    /// longer held.
    func publication(after sequence: UInt64) -> UInt64? {
        guard sequence >= base else { return nil }
        var low = oldest
        var high = newest + 1
        while low < high {
            let middle = (low + high) / 2
            if ring[index(of: middle)].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        // The first that was sent under this id is known to its reader only if it is what made the id so.
        guard let item = self[low], item.sequence == sequence, item.stamp <= sequence else { return low - 1 }
        return low
    }

    private func index(of publication: UInt64) -> Int { Int((publication - start - 1) % UInt64(capacity)) }
}
