/// Deadlines ordered by time, in a binary heap.
///
/// Entries are not removed early. Usually a deadline moves to a later time with each request, and its entry stays. At
/// the old time the connection is checked and inserted again.
struct DeadlineHeap<Owner> {
    struct Entry {
        let time: Moment
        let owner: Owner
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// The earliest time; nil if the heap is empty.
    var earliest: Moment? { entries.first?.time }

    mutating func insert(_ time: Moment, _ owner: Owner) {
        entries.append(Entry(time: time, owner: owner))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { break }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the earliest entry if its time has come.
    mutating func popDue(_ now: Moment) -> Entry? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < entries.count, entries[left].time < entries[least].time { least = left }
            if left + 1 < entries.count, entries[left + 1].time < entries[least].time { least = left + 1 }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
