/// A binary heap with its lowest rank first. Members are found, moved and removed by key in O(log n).
///
/// Its code is inlinable, so that other modules specialise it.
public struct IndexedHeap<Key: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    @usableFromInline var items: [(key: Key, rank: Rank)] = []
    @usableFromInline var positions: [Key: Int] = [:]

    /// Creates an empty heap.
    @inlinable public init() {}

    /// Whether the heap has no members.
    @inlinable public var isEmpty: Bool { items.isEmpty }
    /// Returns whether the key is in the heap.
    @inlinable public func contains(_ key: Key) -> Bool { positions[key] != nil }
    /// The member with the lowest rank.
    @inlinable public var first: (key: Key, rank: Rank)? { items.first }

    /// Inserts the key, or gives it another rank.
    @inlinable public mutating func set(_ key: Key, to rank: Rank) {
        if let position = positions[key] {
            items[position].rank = rank
            settle(position)
        } else {
            items.append((key, rank))
            rise(items.count - 1)
        }
    }

    /// Removes the key.
    /// - Returns: Its rank; `nil` if the key was not in the heap.
    @discardableResult
    @inlinable public mutating func remove(_ key: Key) -> Rank? {
        guard let position = positions.removeValue(forKey: key) else { return nil }
        let rank = items[position].rank
        let last = items.removeLast()
        if position < items.count {
            items[position] = last
            settle(position)
        }
        return rank
    }

    @inlinable mutating func settle(_ position: Int) {
        if sink(position) == position { rise(position) }
    }

    @inlinable mutating func rise(_ position: Int) {
        var position = position
        let item = items[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard item.rank < items[parent].rank else { break }
            place(items[parent], at: position)
            position = parent
        }
        place(item, at: position)
    }

    /// Moves an item down to its place, and returns its new position.
    @inlinable mutating func sink(_ position: Int) -> Int {
        var position = position
        let item = items[position]
        while true {
            let left = 2 * position + 1
            guard left < items.count else { break }
            let right = left + 1
            let lesser = right < items.count && items[right].rank < items[left].rank ? right : left
            guard items[lesser].rank < item.rank else { break }
            place(items[lesser], at: position)
            position = lesser
        }
        place(item, at: position)
        return position
    }

    @inlinable mutating func place(_ item: (key: Key, rank: Rank), at position: Int) {
        items[position] = item
        positions[item.key] = position
    }
}
