import Testing

@testable import DownloadCore
@testable import Downloads

struct DownloadQueueTests {
    private func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number)) }

    private func rank(_ number: Int, _ priority: Int = 0) -> QueueRank { QueueRank(priority: priority, arrival: id(number)) }

    private func queue(_ maxConcurrent: Int, _ maxPerHost: Int) -> SlotQueue<QueueRank> {
        SlotQueue<QueueRank>(limits: SlotLimits(maxConcurrent: maxConcurrent, maxPerHost: maxPerHost))
    }

    private func numbers(_ ids: [RecordID]) -> [Int] { ids.map { Int($0.value) } }

    @Test("First in, first out, up to the limit")
    func firstInIsFirstOut() {
        var queue = queue(2, 10)
        for number in 1...4 { queue.enqueue(id(number), host: "a:80", rank: rank(number)) }
        #expect(numbers(queue.startable()) == [1, 2])
        #expect(queue.startable().isEmpty)
        queue.remove(id(1))
        #expect(numbers(queue.startable()) == [3])
        #expect(queue.waitingCount == 1)
        #expect(queue.runningCount == 2)
    }

    @Test("Higher priorities start first, in order of arrival within one")
    func higherPrioritiesComeFirst() {
        var queue = queue(10, 10)
        for (number, priority) in [(1, 0), (2, 5), (3, -1), (4, 5), (5, 0)] {
            queue.enqueue(id(number), host: "\(number):80", rank: rank(number, priority))
        }
        #expect(numbers(queue.startable()) == [2, 4, 1, 5, 3])
    }

    @Test("A host without a free slot does not hold up the others")
    func fullHostHoldsUpNoOther() {
        var queue = queue(10, 2)
        for number in 1...5 { queue.enqueue(id(number), host: "a:80", rank: rank(number, 9)) }
        queue.enqueue(id(6), host: "a:81", rank: rank(6))
        #expect(numbers(queue.startable()) == [1, 2, 6])
        queue.remove(id(2))
        #expect(numbers(queue.startable()) == [3])
    }

    @Test("A waiting download can be moved, a running one cannot")
    func waitingDownloadCanBeMoved() {
        var queue = queue(1, 1)
        for number in 1...4 { queue.enqueue(id(number), host: "a:80", rank: rank(number)) }
        #expect(numbers(queue.startable()) == [1])
        queue.rearrange(id(4), to: rank(4, 1))
        queue.rearrange(id(1), to: rank(1, -10))
        queue.rearrange(id(99), to: rank(99, 1))
        queue.remove(id(1))
        #expect(numbers(queue.startable()) == [4])
        queue.rearrange(id(3), to: rank(3, 1))
        queue.rearrange(id(3), to: rank(3, 0))
        queue.remove(id(4))
        #expect(numbers(queue.startable()) == [2])
    }

    @Test("A download that returns after a failure keeps its position")
    func failedDownloadKeepsItsPlace() {
        var queue = queue(1, 1)
        for number in 1...3 { queue.enqueue(id(number), host: "a:80", rank: rank(number)) }
        #expect(numbers(queue.startable()) == [1])
        queue.remove(id(1))
        #expect(numbers(queue.startable()) == [2])
        queue.enqueue(id(1), host: "a:80", rank: rank(1))
        queue.remove(id(2))
        #expect(numbers(queue.startable()) == [1])
    }

    @Test("A moved download starts with its new arrival")
    func movedDownloadStartsAtItsPlace() {
        var queue = queue(1, 1)
        for number in 1...4 { queue.enqueue(id(number * 10), host: "a:80", rank: rank(number * 10)) }
        queue.rearrange(id(40), to: rank(15))
        queue.rearrange(id(10), to: rank(99))
        var order: [Int] = []
        while let next = queue.startable().first {
            order.append(Int(next.value))
            queue.remove(next)
        }
        #expect(order == [40, 20, 30, 10])
    }

    @Test("Limits change at any time")
    func limitsChangeAtAnyTime() {
        var queue = queue(1, 1)
        for number in 1...6 { queue.enqueue(id(number), host: number < 4 ? "a:80" : "b:80", rank: rank(number)) }
        #expect(numbers(queue.startable()) == [1])
        queue.limits.maxConcurrent = 3
        #expect(numbers(queue.startable()) == [4])
        queue.limits.maxPerHost = 2
        #expect(numbers(queue.startable()) == [2])
        queue.limits = SlotLimits(maxConcurrent: 1, maxPerHost: 1)
        queue.remove(id(1))
        queue.remove(id(2))
        #expect(queue.startable().isEmpty)
        queue.remove(id(4))
        #expect(numbers(queue.startable()) == [3])
    }

    @Test("Entering twice and leaving twice have no effect")
    func enteringTwiceChangesNothing() {
        var queue = queue(1, 1)
        queue.enqueue(id(1), host: "a:80", rank: rank(1))
        queue.enqueue(id(1), host: "b:80", rank: rank(1, 9))
        #expect(queue.waitingCount == 1)
        #expect(numbers(queue.startable()) == [1])
        queue.enqueue(id(1), host: "a:80", rank: rank(1))
        #expect(queue.waitingCount == 0)
        let removals = [queue.remove(id(1)), queue.remove(id(1))]
        #expect(removals == [true, false])
        #expect(queue.runningCount == 0)
    }

    @Test("Equals a sorted list under random changes")
    func randomTrafficMatchesSortedList() {
        var random = SystemRandom()
        var queue = queue(5, 2)
        var waiting: [(number: Int, host: String, priority: Int)] = []
        var running: [(number: Int, host: String)] = []
        for number in 1...3_000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1, 2:
                let entry = (number, "\(Int.random(in: 0..<6, using: &random)):80", Int.random(in: -2...2, using: &random))
                queue.enqueue(id(number), host: entry.1, rank: rank(number, entry.2))
                waiting.append(entry)
            case 3:
                guard let gone = running.indices.randomElement(using: &random) else { continue }
                queue.remove(id(running.remove(at: gone).number))
            case 4:
                guard let gone = waiting.indices.randomElement(using: &random) else { continue }
                queue.remove(id(waiting.remove(at: gone).number))
            default:
                guard let moved = waiting.indices.randomElement(using: &random) else { continue }
                waiting[moved].priority = Int.random(in: -2...2, using: &random)
                queue.rearrange(id(waiting[moved].number), to: rank(waiting[moved].number, waiting[moved].priority))
            }
            var expected: [Int] = []
            while running.count < 5 {
                let free = waiting.indices.filter { index in
                    running.count { $0.host == waiting[index].host } < 2
                }
                guard
                    let best = free.min(by: {
                        (-waiting[$0].priority, waiting[$0].number) < (-waiting[$1].priority, waiting[$1].number)
                    })
                else { break }
                let entry = waiting.remove(at: best)
                running.append((entry.number, entry.host))
                expected.append(entry.number)
            }
            #expect(numbers(queue.startable()) == expected)
        }
    }

    @Test("Processes ten thousand waiting downloads quickly")
    func tenThousandAreWorkedOffQuickly() {
        var queue = queue(8, 4)
        for number in 0..<10_000 { queue.enqueue(id(number), host: "\(number % 100):80", rank: rank(number, number % 21 - 10)) }
        var started = 0
        let elapsed = ContinuousClock().measure {
            while true {
                let batch = queue.startable()
                if batch.isEmpty { break }
                started += batch.count
                for id in batch { queue.remove(id) }
            }
        }
        #expect(started == 10_000)
        // Some milliseconds; a queue that is searched from its front takes a hundred times as long.
        #expect(elapsed < .seconds(5))
    }
}

extension SlotQueue<QueueRank> {
    /// Gives slots to all downloads that may start now.
    /// - Returns: These downloads, in the order of their start.
    fileprivate mutating func startable() -> [RecordID] {
        var started: [RecordID] = []
        while let id = next() { started.append(id) }
        return started
    }
}
