import System
import Testing

@testable import Downloads

@Suite("Limits of waits")
struct WaitLimitsTests {
    private let start = ContinuousClock.now
    private let ended = Locked<[WaitLimits.Number]>([])

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func add(_ number: WaitLimits.Number, by seconds: Int, to limits: inout WaitLimits) -> Bool {
        limits.add(number, by: at(seconds)) { [ended] in ended.withLock { $0.append(number) } }
    }

    private func expire(_ limits: inout WaitLimits, at seconds: Int) -> [WaitLimits.Number] {
        for end in limits.takeExpired(now: at(seconds)) { end() }
        return ended.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }

    @Test("waits end in the order of their deadlines, each once; those that have their result do not")
    func order() {
        var limits = WaitLimits()
        let isFirst = [(1, 5), (2, 5), (3, 4), (4, 9), (5, 6)].map { add($0.0, by: $0.1, to: &limits) }
        #expect(isFirst == [true, false, true, false, false])
        #expect(limits.next == at(4))
        #expect(expire(&limits, at: 3) == [])
        limits.remove(2)
        #expect(expire(&limits, at: 5) == [3, 1])
        #expect(limits.next == at(6))
        limits.remove(5)
        #expect(expire(&limits, at: 6) == [])
        #expect(limits.next == at(9))
        #expect(expire(&limits, at: 100) == [4])
        #expect(limits.next == nil)
        // After those that were answered.
        let next = add(6, by: 200, to: &limits)
        #expect(next)
    }

    @Test("requests that are answered take no room for long")
    func many() {
        var limits = WaitLimits()
        _ = add(0, by: 1_000_000, to: &limits)
        for number in 1..<100_000 {
            _ = add(WaitLimits.Number(number), by: number, to: &limits)
            limits.remove(WaitLimits.Number(number))
        }
        #expect(limits.next == at(1_000_000) || limits.next == at(99_999))
        #expect(expire(&limits, at: 2_000_000) == [0])
        #expect(limits.next == nil)
    }
}
