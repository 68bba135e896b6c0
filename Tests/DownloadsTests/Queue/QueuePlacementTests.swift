import HTTPCore
import Testing

@testable import DownloadCore
@testable import Downloads
@testable import DownloadIndex

/// A queue as an array.
private struct ArrayQueue: QueueOrder {
    var members: [(id: RecordID, rank: QueueRank)] = []

    mutating func set(_ id: RecordID, _ rank: QueueRank) {
        members.removeAll { $0.id == id }
        members.append((id, rank))
        members.sort { $0.rank < $1.rank }
    }

    var count: Int { members.count }
    func member(at offset: Int) -> (id: RecordID, rank: QueueRank)? { members.indices.contains(offset) ? members[offset] : nil }
    func count(below rank: QueueRank) -> Int { members.count { $0.rank < rank } }
}

@Suite("Positions in the queue", .timeLimit(.minutes(3)))
struct QueuePlacementTests {
    /// Four downloads of priority 5, 0, 0 and −5, created in the order 0…3, a second apart.
    private static let priorities = [5, 0, 0, -5]

    private static func id(_ number: Int) -> RecordID { RecordID(value: UInt128(1_700_000_000_000 + number * 1_000) << 80) }

    private static func queue() -> ArrayQueue {
        var queue = ArrayQueue()
        for (number, priority) in priorities.enumerated() {
            queue.set(id(number), QueueRank(priority: priority, arrival: id(number)))
        }
        return queue
    }

    @Test(
        "A moved download gets the nearest priority that its neighbours allow",
        arguments: [
            (3, QueueMove.start(0), [3, 0, 1, 2], 5), (3, .start(1), [0, 3, 1, 2], 0), (3, .start(2), [0, 1, 3, 2], 0),
            (3, .start(3), [0, 1, 2, 3], -5), (0, .start(1), [1, 0, 2, 3], 0), (0, .start(2), [1, 2, 0, 3], 0),
            (0, .start(99), [1, 2, 3, 0], -5), (1, .current(1), [0, 2, 1, 3], 0), (1, .current(-1), [1, 0, 2, 3], 5),
            (1, .current(-7), [1, 0, 2, 3], 5), (2, .current(1), [0, 1, 3, 2], -5), (2, .end(0), [0, 1, 3, 2], -5),
            (0, .end(-1), [1, 2, 0, 3], 0), (0, .end(-99), [0, 1, 2, 3], 5), (3, .end(3), [0, 1, 2, 3], -5),
            (3, .current(.min), [3, 0, 1, 2], 5), (0, .current(.max), [1, 2, 3, 0], -5),
        ])
    func moves(_ number: Int, _ move: QueueMove, _ expected: [Int], _ priority: Int) {
        var queue = Self.queue()
        let rank = queue.members.first { $0.id == Self.id(number) }?.rank ?? QueueRank(priority: 0, arrival: Self.id(number))
        let seat = QueuePlacement(of: Self.id(number), rank, move, in: queue, newest: Self.id(9))
        queue.set(Self.id(number), seat.rank)
        #expect(queue.members.map(\.id) == expected.map(Self.id))
        #expect(seat.position == expected.firstIndex(of: number))
        #expect(seat.rank.priority == priority)
        #expect(seat.others.isEmpty)
    }

    @Test("An extended queue is the queue with its new members")
    func extended() {
        var random = SystemRandom()
        var model = ArrayQueue()
        for number in 0..<40 {
            model.set(
                Self.id(number * 2), QueueRank(priority: Int.random(in: 0...2, using: &random), arrival: Self.id(number * 2)))
        }
        var queue = ExtendedQueue(model)
        for number in (0..<40).shuffled(using: &random) {
            let rank = QueueRank(priority: Int.random(in: 0...2, using: &random), arrival: Self.id(number * 2 + 1))
            queue.insert(Self.id(number * 2 + 1), rank)
            model.set(Self.id(number * 2 + 1), rank)
            #expect(queue.count == model.count)
            for offset in -1...model.count { #expect(queue.member(at: offset)?.id == model.member(at: offset)?.id) }
            #expect(queue.count(below: rank) == model.count(below: rank))
        }
    }

    @Test("Reassigned members of an extended queue have their new ranks")
    func reassigned() {
        var random = SystemRandom()
        for _ in 0..<50 {
            var model = ArrayQueue()
            for number in 0..<20 { model.set(Self.id(number * 4), QueueRank(priority: 0, arrival: Self.id(number * 4))) }
            var queue = ExtendedQueue(model)
            var entered = 0
            for step in 0..<20 {
                if Bool.random(using: &random) {
                    entered += 1
                    let rank = QueueRank(priority: 0, arrival: Self.id(entered * 4 + 1))
                    queue.insert(Self.id(1_000 + entered), rank)
                    model.set(Self.id(1_000 + entered), rank)
                } else if let member = model.members.randomElement(using: &random) {
                    let arrival = Self.id(Int.random(in: 0..<25, using: &random) * 4 + 2 + step * 1_000)
                    let other = QueuePlacement.Other(id: member.id, arrival: arrival, former: member.rank)
                    queue.reassign(other)
                    model.set(member.id, other.rank)
                }
                #expect(queue.count == model.count)
                for offset in -1...model.count { #expect(queue.member(at: offset)?.id == model.member(at: offset)?.id) }
                for member in model.members { #expect(queue.count(below: member.rank) == model.count(below: member.rank)) }
            }
        }
    }

    /// - Parameter stride: the distance of identities: as within one millisecond, or less, so that there is hardly room
    ///   between them.
    @Test("The order equals an array's under random changes and moves", arguments: [1 << 80, 1 << 20, 3] as [UInt128])
    func model(_ stride: UInt128) {
        var random = SystemRandom()
        var queue = ArrayQueue()
        // The expected order, by identity and priority.
        var model: [(id: RecordID, priority: Int)] = []
        var last: UInt128 = 1 << 120
        var moved = 0
        var reassigned = 0
        func next() -> RecordID {
            last += stride
            return RecordID(value: last)
        }
        for _ in 0..<4_000 {
            let choice = Int.random(in: 0..<10, using: &random)
            if choice < 2 || model.count < 3 {
                let (id, priority) = (next(), Int.random(in: -1...1, using: &random))
                queue.set(id, QueueRank(priority: priority, arrival: id))
                model.insert((id, priority), at: model.firstIndex { $0.priority < priority } ?? model.count)
            } else if choice == 2, let gone = model.indices.randomElement(using: &random) {
                let id = model.remove(at: gone).id
                queue.members.removeAll { $0.id == id }
            } else if let from = model.indices.randomElement(using: &random),
                let rank = queue.members.first(where: { $0.id == model[from].id })?.rank
            {
                // Mostly to the same few positions, where room runs out.
                let to = choice < 8 ? 1 : Int.random(in: 0..<model.count, using: &random)
                var mover = model.remove(at: from)
                let seat = QueuePlacement(of: mover.id, rank, .start(to), in: queue, newest: next())
                if let after = model.indices.contains(to) ? model[to].priority : nil {
                    mover.priority = max(mover.priority, after)
                }
                if to > 0 { mover.priority = min(mover.priority, model[to - 1].priority) }
                model.insert(mover, at: to)
                for other in seat.others {
                    guard let rank = queue.members.first(where: { $0.id == other.id })?.rank else { continue }
                    queue.set(other.id, QueueRank(priority: rank.priority, arrival: other.arrival))
                }
                queue.set(mover.id, seat.rank)
                #expect(seat.position == to)
                moved += 1
                reassigned += seat.others.count
            }
            #expect(queue.members.map(\.id) == model.map(\.id))
            #expect(queue.members.map(\.rank.priority) == model.map(\.priority))
            if queue.members.map(\.id) != model.map(\.id) { return }
        }
        #expect(Set(queue.members.map(\.rank)).count == queue.count)
        // Makes room for many at once.
        #expect(reassigned < 4 * moved)
        if stride == 3 { #expect(reassigned > 0) }
    }
}
