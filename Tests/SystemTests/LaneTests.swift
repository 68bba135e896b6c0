import System
import TestSupport
import Testing

@Suite("A lane", .timeLimit(.minutes(1)))
struct LaneTests {
    /// Counts running work.
    private actor Work {
        private(set) var running = 0
        private(set) var most = 0
        private(set) var order: [Int] = []
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func run(_ number: Int) async {
            order.append(number)
            running += 1
            most = max(most, running)
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            running -= 1
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    /// Waits until this number of tasks wait for the lane.
    private func wait(for count: Int, in lane: Lane) async {
        while lane.waitingCount != count { await Task.yield() }
    }

    @Test("Admits tasks up to its width, the others in order", arguments: [1, 2, 3])
    func width(width: Int) async {
        let (lane, work) = (Lane(width: width), Work())
        let tasks = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<width { group.addTask { await lane.run(within: .seconds(30)) { await work.run(number) } != nil } }
            while await work.running < width { await Task.yield() }
            for number in width..<10 {
                group.addTask { await lane.run(within: .seconds(30)) { await work.run(number) } != nil }
                await wait(for: number - width + 1, in: lane)
            }
            await work.open()
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(tasks == 10)
        #expect(await work.most == width)
        if width == 1 { #expect(await work.order == Array(0..<10)) }
        #expect(lane.waitingCount == 0)
    }

    @Test("A late, surplus or cancelled task is not run and uses no width")
    func refusals() async {
        let (lane, work) = (Lane(width: 1, maximumWaiting: 1), Work())
        let first = Task { await lane.run(within: .seconds(30)) { await work.run(1) } != nil }
        while await work.running == 0 { await Task.yield() }
        #expect(await lane.run(within: .milliseconds(1)) { 1 } == nil)
        let second = Task { await lane.run(within: .seconds(30)) { await work.run(2) } != nil }
        await wait(for: 1, in: lane)
        #expect(await lane.run(within: .seconds(30)) { 1 } == nil)
        second.cancel()
        #expect(await !second.value)
        #expect(lane.waitingCount == 0)
        await work.open()
        #expect(await first.value)
        #expect(await lane.run(within: .milliseconds(1)) { 1 } == 1)
        #expect(await work.order == [1])
    }

    @Test("An error leaves the lane")
    func errors() async {
        struct Fault: Error {}
        let lane = Lane(width: 1)
        for _ in 0..<3 {
            await #expect(throws: Fault.self) { try await lane.run(within: .seconds(30)) { throw Fault() } }
        }
    }
}
