/// The numbers of elements of an array, found by a hash of the elements.
///
/// A dictionary with its keys and values would take twice the memory: it doubles its size when it grows, and has room for a
/// key and a value in each empty place. A slot takes 8 bytes, and a fifth to a third of the slots are empty.
struct HashSlots: Sendable {
    private static let empty = UInt64.max
    /// The minimum number of slots.
    private static let minimum = 8

    /// Half of the hash in the upper half, and the number in the lower one, or ``empty``. A slot is at or behind the place
    /// that its hash gives.
    private var slots: [UInt64] = []
    private var count = 0

    /// Returns the number of an element that meets a condition, among those with a hash; `nil` if there is none.
    func number(_ hash: Int, where isWanted: (Int) -> Bool) -> Int? {
        slot(hash, where: isWanted).map { Self.number(slots[$0]) }
    }

    /// Adds the number of an element that has a hash.
    mutating func insert(_ number: Int, _ hash: Int) {
        if (count + 1) * 5 > slots.count * 4 { reserveCapacity(max(count + count / 4, Self.minimum / 2)) }
        count += 1
        place(Self.half(hash) << 32 | UInt64(UInt32(truncatingIfNeeded: number)))
    }

    /// Makes room for a number of elements.
    mutating func reserveCapacity(_ capacity: Int) {
        let size = max(capacity + capacity / 4 + 1, Self.minimum)
        guard size > slots.count else { return }
        let former = slots
        slots = Array(repeating: Self.empty, count: size)
        for slot in former where slot != Self.empty { place(slot) }
    }

    /// Removes the number of an element that has a hash.
    mutating func remove(_ number: Int, _ hash: Int) {
        guard var gap = slot(hash, where: { $0 == number }) else { return }
        count -= 1
        var next = following(gap)
        while slots[next] != Self.empty {
            // A search for the next slot begins at its own place. It ends at the gap if that is in between.
            if distance(from: home(slots[next]), to: next) >= distance(from: gap, to: next) {
                slots[gap] = slots[next]
                gap = next
            }
            next = following(next)
        }
        slots[gap] = Self.empty
    }

    /// Changes the number of an element that has a hash.
    mutating func change(_ number: Int, to other: Int, _ hash: Int) {
        guard let slot = slot(hash, where: { $0 == number }) else { return }
        slots[slot] = Self.half(hash) << 32 | UInt64(UInt32(truncatingIfNeeded: other))
    }

    private func slot(_ hash: Int, where isWanted: (Int) -> Bool) -> Int? {
        if slots.isEmpty { return nil }
        let half = Self.half(hash)
        var slot = home(half << 32)
        while slots[slot] != Self.empty {
            if slots[slot] >> 32 == half, isWanted(Self.number(slots[slot])) { return slot }
            slot = following(slot)
        }
        return nil
    }

    private mutating func place(_ value: UInt64) {
        var slot = home(value)
        while slots[slot] != Self.empty { slot = following(slot) }
        slots[slot] = value
    }

    /// The place that a slot's hash gives.
    private func home(_ slot: UInt64) -> Int { Int(((slot >> 32) * UInt64(slots.count)) >> 32) }

    private func following(_ slot: Int) -> Int { slot + 1 < slots.count ? slot + 1 : 0 }

    private func distance(from first: Int, to second: Int) -> Int {
        second >= first ? second - first : second - first + slots.count
    }

    private static func number(_ slot: UInt64) -> Int { Int(slot & UInt64(UInt32.max)) }

    private static func half(_ hash: Int) -> UInt64 { UInt64(UInt(bitPattern: hash)) & UInt64(UInt32.max) }
}

extension Array {
    /// Appends an element. The capacity grows by a quarter, instead of being doubled.
    mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + count / 4 + 4) }
        append(element)
    }
}
