/// The connections of a loop by slot number. A slot is reused with another generation.
struct ConnectionTable {
    private var boxes: [ConnectionBox?] = []
    private var generations: [UInt32] = []
    private var free: [UInt32] = []

    private(set) var count = 0

    /// Reserves the id of a new connection.
    mutating func reserve() -> ConnectionID {
        if let slot = free.popLast() {
            generations[Int(slot)] &+= 1
            return ConnectionID(slot: slot, generation: generations[Int(slot)])
        }
        boxes.append(nil)
        generations.append(0)
        return ConnectionID(slot: UInt32(truncatingIfNeeded: boxes.count - 1), generation: 0)
    }

    /// The connection of an id; nil if it has ended.
    subscript(id: ConnectionID) -> ConnectionBox? {
        guard Int(id.slot) < boxes.count, generations[Int(id.slot)] == id.generation else { return nil }
        return boxes[Int(id.slot)]
    }

    mutating func insert(_ id: ConnectionID, _ box: ConnectionBox) {
        boxes[Int(id.slot)] = box
        count += 1
    }

    /// Removes a connection, or a reserved id that is not used.
    mutating func remove(_ id: ConnectionID) {
        guard generations[Int(id.slot)] == id.generation else { return }
        if boxes[Int(id.slot)] != nil { count -= 1 }
        boxes[Int(id.slot)] = nil
        generations[Int(id.slot)] &+= 1
        free.append(id.slot)
    }

    /// All connections, in no order.
    var all: [ConnectionBox] { boxes.compactMap(\.self) }
}
