import Testing

@testable import DemoUpstream

@Suite("Pace") struct PaceTests {
    @Test("Without a limit, all bytes may be sent at once")
    func unlimited() {
        var pace = Pace(bytesPerSecond: 0)
        #expect(pace.allowance(for: 1_000_000, now: .now) == .send(1_000_000))
    }

    @Test(
        "Bytes take the time of the pace, at every point of query",
        arguments: [1, 100, 4096, 1_000_003, 5 << 20] as [Int64])
    func rate(bytesPerSecond: Int64) {
        var pace = Pace(bytesPerSecond: bytesPerSecond)
        let start = ContinuousClock.now
        var now = start
        var sent: Int64 = 0
        let total = bytesPerSecond * 3
        var steps = 0
        while sent < total, steps < 100_000 {
            steps += 1
            switch pace.allowance(for: total - sent, now: now) {
            case .send(let count):
                #expect(count >= 1)
                pace.spend(count)
                sent += count
            case .wait(let until):
                #expect(until > now)
                now = until
            }
        }
        #expect(sent == total)
        let leastSeconds = Double(total - pace.portion) / Double(bytesPerSecond)
        let took = (now - start) / .seconds(1)
        #expect(took >= leastSeconds - 0.001)
        #expect(took <= leastSeconds + 0.05)
    }

    @Test("A reader after a pause does not get all missed bytes at once")
    func burst() {
        var pace = Pace(bytesPerSecond: 100_000)
        let start = ContinuousClock.now
        _ = pace.allowance(for: 1, now: start)
        var sent: Int64 = 0
        let later = start + .seconds(60)
        while case .send(let count) = pace.allowance(for: 1_000_000, now: later), sent < 1_000_000 {
            pace.spend(count)
            sent += count
        }
        #expect(sent <= 8 * pace.portion)
    }
}
