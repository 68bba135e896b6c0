import System
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Waits of requests")
struct RequestWaitsTests {
    private let start = ContinuousClock.now
    private let ended = Locked<[DownloadMachine.Waiter]>([])

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// - Returns: Whether it is the first to expire.
    private func add(_ name: DownloadMachine.Waiter, by seconds: Int, to waits: inout RequestWaits) -> Bool {
        let wait = waits.add(by: at(seconds)) { [ended] _ in ended.withLock { $0.append(name) } }
        #expect(wait.number == name)
        return wait.isFirst
    }

    private func expire(_ waits: inout RequestWaits, at seconds: Int?) -> [DownloadMachine.Waiter] {
        for receive in waits.takeExpired(now: seconds.map(at)) { receive(.failure(.unconfirmed)) }
        return ended.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }

    @Test("Waits end in the order of their deadlines, each once, unless they have a result")
    func order() {
        var waits = RequestWaits()
        let isFirst = [(1, 5), (2, 5), (3, 4), (4, 9), (5, 6)].map { add($0.0, by: $0.1, to: &waits) }
        #expect(isFirst == [true, false, true, false, false])
        #expect(waits.next == at(4))
        #expect(expire(&waits, at: 3) == [])
        let (receiver, again) = (waits.remove(2), waits.remove(2))
        #expect(receiver != nil && again == nil && waits.count == 4)
        #expect(expire(&waits, at: 5) == [3, 1])
        #expect(waits.next == at(6) && waits.count == 2)
        let (first, fifth, unknown) = (waits.remove(1), waits.remove(5), waits.remove(6))
        #expect(first == nil && fifth != nil && unknown == nil)
        #expect(waits.contains(4) && !waits.contains(5) && !waits.contains(0) && !waits.contains(6))
        #expect(expire(&waits, at: 6) == [])
        #expect(waits.next == at(9))
        #expect(expire(&waits, at: 100) == [4])
        #expect(waits.next == nil && waits.count == 0)
        let isFirstAgain = add(6, by: 200, to: &waits)
        #expect(isFirstAgain)
        #expect(expire(&waits, at: nil) == [6])
        #expect(waits.next == nil && waits.count == 0)
    }

    @Test("Answered requests use no memory for long")
    func many() {
        var waits = RequestWaits()
        _ = add(1, by: 1_000_000, to: &waits)
        for number in 2..<100_000 {
            _ = add(UInt64(number), by: number, to: &waits)
            waits.remove(UInt64(number))
        }
        #expect(expire(&waits, at: 2_000_000) == [1])
        #expect(waits.next == nil)
    }
}
