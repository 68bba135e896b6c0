import Testing

@testable import HTTPClient

@Suite
struct TokenBucketTests {
    static let start = ContinuousClock.now

    /// A bucket and transfers with unlimited demand in simulated time.
    struct Simulation {
        var bucket: TokenBucket
        var now = TokenBucketTests.start
        var waiting: [(transfer: Int, reservation: TokenBucket.Reservation)] = []
        var received: [Int: Int] = [:]

        init(rate: Int64) {
            bucket = TokenBucket(bytesPerSecond: rate, now: now)
        }

        /// Lets transfers reserve in turn; `lateness` is the delay of each wake-up.
        mutating func run(_ transfers: Range<Int>, for duration: Duration, lateness: Duration = .zero) {
            let end = now + duration
            for transfer in transfers { waiting.append((transfer, bucket.reserve(bucket.reservationSize, now: now))) }
            while true {
                var first: (index: Int, due: ContinuousClock.Instant)?
                for (index, entry) in waiting.enumerated() {
                    let due = bucket.due(entry.reservation, now: now) ?? now
                    if due < first?.due ?? end { first = (index, due) }
                }
                guard let first else { break }
                // Due reservations do not wait.
                if first.due > now { now = min(end, first.due + lateness) }
                let entry = waiting.remove(at: first.index)
                _ = bucket.take(entry.reservation, now: now)
                received[entry.transfer, default: 0] += entry.reservation.count
                waiting.append((entry.transfer, bucket.reserve(bucket.reservationSize, now: now)))
            }
            now = end
            for entry in waiting { bucket.release(entry.reservation.count, of: entry.reservation, now: now) }
            waiting = []
        }

        var total: Int { received.values.reduce(0, +) }
    }

    @Test(
        "Any number of transfers reach the limit within 5 percent in five seconds",
        arguments: [100, 4_096, 100_000, 1 << 20, 8 << 20, 100 << 20] as [Int64], [1, 3, 16])
    func sharedLimitIsExact(rate: Int64, transfers: Int) {
        var simulation = Simulation(rate: rate)
        simulation.run(0..<transfers, for: .seconds(5))
        let expected = Double(rate) * 5
        #expect(Double(simulation.total) <= expected * 1.05)
        #expect(Double(simulation.total) >= expected * 0.95)
    }

    @Test(
        "A late wake-up does not reduce the speed", arguments: [Duration.milliseconds(1), .milliseconds(20), .milliseconds(100)])
    func wakingLateCostsNoSpeed(lateness: Duration) {
        var simulation = Simulation(rate: 1 << 20)
        simulation.run(0..<1, for: .seconds(5), lateness: lateness)
        #expect(simulation.total >= 5 << 20 - 1 << 18 && simulation.total <= 5 << 20 + 1 << 18)
    }

    @Test("Transfers with more demand than supply get equal shares")
    func hungryOnesGetEqualParts() {
        var simulation = Simulation(rate: 1_000_000)
        simulation.run(0..<7, for: .seconds(10))
        for transfer in 0..<7 {
            let share = Double(simulation.received[transfer] ?? 0)
            #expect(abs(share - 10_000_000 / 7) < 40_000)
        }
    }

    @Test("A new limit cancels all reservations, and waiting transfers reserve again at once")
    func newLimitCountsAtOnce() {
        let start = Self.start
        var bucket = TokenBucket(bytesPerSecond: 1, now: start)
        let first = bucket.reserve(1000, now: start)
        let second = bucket.reserve(1000, now: start)
        #expect(bucket.due(second, now: start) == start + .seconds(2000))
        bucket.setRate(1000, now: start)
        #expect(!bucket.isValid(first) && !bucket.isValid(second))
        #expect(bucket.due(second, now: start) == nil)
        let granted = bucket.take(second, now: start)
        #expect(!granted)
        let third = bucket.reserve(1000, now: start)
        #expect(bucket.isValid(third))
        #expect(bucket.due(third, now: start) == start + .seconds(1))
        bucket.setRate(0, now: start)
        #expect(bucket.due(third, now: start) == nil)
        #expect(bucket.due(bucket.reserve(1000, now: start), now: start) == nil)
    }

    @Test("Debts and savings end with their limit", arguments: [(20_000_000, 50_000), (1, 50_000), (0, 50_000)])
    func nothingOutlastsALimit(before: Int64, after: Int64) {
        let start = Self.start
        var bucket = TokenBucket(bytesPerSecond: before, now: start)
        let old = (0..<8).map { _ in bucket.reserve(bucket.reservationSize, now: start) }
        _ = bucket.take(old[0], now: start + .seconds(10))
        let change = start + .seconds(10)
        bucket.setRate(after, now: change)
        for reservation in old { bucket.release(reservation.count, of: reservation, now: change) }
        // At most a fifth of a second is saved.
        let reservation = bucket.reserve(15_000, now: change)
        let due = bucket.due(reservation, now: change) ?? change
        #expect(due >= change + .milliseconds(90) && due <= change + .milliseconds(300))
    }

    @Test("Frequent changes of the limit lose no time")
    func frequentChangesEarn() {
        var now = Self.start
        var bucket = TokenBucket(bytesPerSecond: 50_000, now: now)
        var received = 0
        for step in 0..<2000 {
            bucket.setRate(step % 2 == 0 ? 50_000 : 50_100, now: now)
            now += .milliseconds(5)
            let reservation = bucket.reserve(bucket.reservationSize, now: now)
            if bucket.take(reservation, now: now) { received += reservation.count }
        }
        #expect(received > 450_000 && received <= 510_000)
    }

    @Test("Idle time saves no bytes")
    func idleShareIsNotSaved() {
        let start = Self.start
        var bucket = TokenBucket(bytesPerSecond: 1000, now: start)
        let late = start + .seconds(3600)
        let first = bucket.reserve(200, now: late)
        #expect(bucket.due(first, now: late) == nil)
        let second = bucket.reserve(1000, now: late)
        #expect(bucket.due(second, now: late) == late + .seconds(1))
    }

    @Test("Time without a limit saves no bytes")
    func unlimitedTimeSavesNothing() {
        let start = Self.start
        var bucket = TokenBucket(bytesPerSecond: 0, now: start)
        let free = bucket.reserve(1 << 20, now: start)
        #expect(free.count == 0)
        #expect(bucket.due(free, now: start) == nil)
        bucket.setRate(1000, now: start + .seconds(60))
        let reservation = bucket.reserve(100, now: start + .seconds(60))
        #expect(bucket.due(reservation, now: start + .seconds(60)) == start + .milliseconds(60_100))
    }

    @Test("Returned bytes advance the other transfers")
    func returnedShareMovesOthersUp() {
        let start = Self.start
        var bucket = TokenBucket(bytesPerSecond: 1000, now: start)
        let first = bucket.reserve(5000, now: start)
        let second = bucket.reserve(1000, now: start)
        bucket.release(5000, of: first, now: start)
        #expect(bucket.due(second, now: start) == start + .seconds(1))
    }
}
