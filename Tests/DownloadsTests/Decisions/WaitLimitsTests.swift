import System
import Testing

@testable import Downloads

@Suite("Limits of waits")
struct WaitLimitsTests {
    private let start = ContinuousClock.now
    private let ended = Locked<[WaitLimits.Number]>([])

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// - Returns: Whether it is the first to expire.
    private func add(_ name: WaitLimits.Number, by seconds: Int, to limits: inout WaitLimits) -> Bool {
        let wait = limits.add(by: at(seconds)) { [ended] in ended.withLock { $0.append(name) } }
        #expect(wait.number == name)
        return wait.isFirst
    }

    private func expire(_ limits: inout WaitLimits, at seconds: Int) -> [WaitLimits.Number] {
        for end in limits.takeExpired(now: at(seconds)) { end() }
        return ended.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }

    @Test("Waits end in the order of their deadlines, each once, unless they have a result")
    func order() {
        var limits = WaitLimits()
        let isFirst = [(0, 5), (1, 5), (2, 4), (3, 9), (4, 6)].map { add($0.0, by: $0.1, to: &limits) }
        #expect(isFirst == [true, false, true, false, false])
        #expect(limits.next == at(4))
        #expect(expire(&limits, at: 3) == [])
        limits.remove(1)
        #expect(expire(&limits, at: 5) == [2, 0])
        #expect(limits.next == at(6))
        limits.remove(0)
        limits.remove(4)
        #expect(expire(&limits, at: 6) == [])
        #expect(limits.next == at(9))
        #expect(expire(&limits, at: 100) == [3])
        #expect(limits.next == nil)
        let isFirstAgain = add(5, by: 200, to: &limits)
        #expect(isFirstAgain)
    }

    @Test("Answered requests use no memory for long")
    func many() {
        var limits = WaitLimits()
        _ = add(0, by: 1_000_000, to: &limits)
        for number in 1..<100_000 {
            _ = add(number, by: number, to: &limits)
            limits.remove(number)
        }
        #expect(expire(&limits, at: 2_000_000) == [0])
        #expect(limits.next == nil)
    }
}
