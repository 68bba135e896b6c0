/// The last transitions, in order, up to a bound: what a reader that fell behind, or came back, can still be told one by one.
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

    /// Changes kept. One costs a reference to a snapshot that readers share, so the bound is about 4 MiB.
    static let defaultCapacity = 4_096

    /// The number of the newest change; 0 before the first.
    private(set) var sequence: UInt64 = 0
    private var ring: [Change] = []
    private let capacity: Int

    init(capacity: Int = EventHistory.defaultCapacity) {
        self.capacity = max(1, capacity)
    }

    /// The number of the oldest change that is still held.
    var oldest: UInt64 { sequence - UInt64(ring.count) + 1 }

    mutating func append(_ change: Change) {
        sequence += 1
        if ring.count < capacity {
            ring.append(change)
        } else {
            ring[Int((sequence - 1) % UInt64(capacity))] = change
        }
    }

    /// Whether everything after `position` is still held.
    func holdsEverything(after position: UInt64) -> Bool {
        position <= sequence && position + 1 >= oldest
    }

    /// The change with this number, if it is held.
    subscript(number: UInt64) -> Change? {
        guard number >= oldest, number <= sequence else { return nil }
        return ring[Int((number - 1) % UInt64(capacity))]
    }
}
