/// A binary heap with its lowest rank first. Members are found, moved and removed by key in O(log n), on average over many
/// changes.
///
/// An item stays in the heap when its key is removed or gets another rank, until it is the first one or most items are like
/// it. So an item moves without a change of the dictionary.
///
/// Its code is inlinable, so that other modules specialise it.
public struct IndexedHeap<Key: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    /// The items of all members, and outdated ones. The first one is not outdated.
    @usableFromInline var items: [(key: Key, rank: Rank)] = []
    /// The ranks of the members. An item with another rank, or of another key, is outdated.
    @usableFromInline var ranks: [Key: Rank] = [:]

    /// Creates an empty heap.
    @inlinable public init() {}

    /// Whether the heap has no members.
    @inlinable public var isEmpty: Bool { ranks.isEmpty }
    /// Returns whether the key is in the heap.
    @inlinable public func contains(_ key: Key) -> Bool { ranks[key] != nil }
    /// The member with the lowest rank.
    @inlinable public var first: (key: Key, rank: Rank)? { items.first }

    /// Inserts the key, or gives it another rank.
    @inlinable public mutating func set(_ key: Key, to rank: Rank) {
        if ranks.updateValue(rank, forKey: key) == rank { return }
        items.append((key, rank))
        rise(items.count - 1)
        dropOutdated(key)
    }

    /// Removes the key.
    /// - Returns: Its rank; `nil` if the key was not in the heap.
    @discardableResult
    @inlinable public mutating func remove(_ key: Key) -> Rank? {
        defer { dropOutdated(key) }
        return ranks.removeValue(forKey: key)
    }

    /// Removes outdated items from the beginning, and all of them if there are more than members.
    /// - Parameter key: The only key that may have an outdated item.
    @inlinable mutating func dropOutdated(_ key: Key) {
        if items.count > 2 * ranks.count + 64 {
            items = ranks.map { ($0.key, $0.value) }
            for position in (0..<items.count / 2).reversed() { sink(position) }
        }
        guard items.first?.key == key else { return }
        while let first = items.first, ranks[first.key] != first.rank {
            items.swapAt(0, items.count - 1)
            items.removeLast()
            sink(0)
        }
    }

    @inlinable mutating func rise(_ position: Int) {
        var position = position
        while position > 0, items[position].rank < items[(position - 1) / 2].rank {
            items.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    @inlinable mutating func sink(_ position: Int) {
        var position = position
        while 2 * position + 1 < items.count {
            let (left, right) = (2 * position + 1, 2 * position + 2)
            let lesser = right < items.count && items[right].rank < items[left].rank ? right : left
            guard items[lesser].rank < items[position].rank else { return }
            items.swapAt(position, lesser)
            position = lesser
        }
    }
}
