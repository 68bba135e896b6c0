import Testing

@testable import HTTPServer

@Suite struct DeadlineHeapTests {
    @Test("Deadlines expire in order of time, and only when due")
    func deadlinesComeOutInOrder() {
        let start = Moment.now
        var heap = DeadlineHeap<Int>()
        var generator = SystemRandomNumberGenerator()
        let delays = (0..<500).shuffled(using: &generator)
        for delay in delays { heap.insert(start + .milliseconds(delay), delay) }
        #expect(heap.earliest == start)
        var popped: [Int] = []
        while let entry = heap.popDue(start + .milliseconds(249)) { popped.append(entry.owner) }
        #expect(popped == Array(0..<250))
        #expect(heap.count == 250)
        #expect(heap.popDue(start + .milliseconds(249))?.owner == nil)
        while let entry = heap.popDue(start + .seconds(1)) { popped.append(entry.owner) }
        #expect(popped == Array(0..<500))
        #expect(heap.earliest == nil)
    }

    @Test("An empty heap has no due deadline")
    func anEmptyHeapHasNothing() {
        var heap = DeadlineHeap<Int>()
        #expect(heap.popDue(.now)?.owner == nil)
    }
}
