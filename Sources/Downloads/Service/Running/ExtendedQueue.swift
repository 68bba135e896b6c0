internal import DownloadCore

/// A queue with planned changes: downloads that are about to enter it, and new ranks of members
/// that make room for them.
///
/// The base must not change while this value is used.
struct ExtendedQueue<Base: QueueOrder>: QueueOrder {
    private let base: Base
    /// Downloads that enter, and members of the base that get another rank.
    private var added: RankedDownloads
    /// The former ranks of those members, in order, each with its offset in the base.
    private var hidden: [(rank: QueueRank, offset: Int)] = []

    /// Extends a queue.
    /// - Parameters:
    ///   - base: The present queue.
    ///   - added: The downloads that enter it.
    init(_ base: Base, adding added: RankedDownloads = RankedDownloads()) {
        self.base = base
        self.added = added
    }

    mutating func insert(_ id: RecordID, _ rank: QueueRank) {
        added.insert(id, rank)
    }

    /// Gives a member another arrival.
    mutating func reassign(_ other: QueuePlacement.Other) {
        if !added.remove(other.id, other.former) {
            hidden.insert((other.former, base.count(below: other.former)), at: hiddenCount(below: other.former))
        }
        added.insert(other.id, other.rank)
    }

    var count: Int { base.count + added.count - hidden.count }

    func member(at offset: Int) -> (id: RecordID, rank: QueueRank)? {
        // This is the first added member at this offset or behind it.
        var (low, high) = (0, added.count)
        while low < high {
            let middle = (low + high) / 2
            if keptCount(below: added[middle].rank) + middle < offset { low = middle + 1 } else { high = middle }
        }
        if low < added.count, keptCount(below: added[low].rank) + low == offset { return added[low] }
        var baseOffset = offset - low
        for (_, offset) in hidden where offset <= baseOffset { baseOffset += 1 }
        return base.member(at: baseOffset)
    }

    func count(below rank: QueueRank) -> Int { keptCount(below: rank) + added.count(below: rank) }

    /// Returns the number of members of the base that have a lower rank, and keep it.
    private func keptCount(below rank: QueueRank) -> Int {
        base.count(below: rank) - hiddenCount(below: rank)
    }

    private func hiddenCount(below rank: QueueRank) -> Int {
        hidden.firstIndex { $0.rank >= rank } ?? hidden.count
    }
}

extension ExtendedQueue: Sendable where Base: Sendable {}
