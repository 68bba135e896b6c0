import Testing

@testable import HTTPClient

/// Limits that change while transfers run, in a simulated time.
@Suite("Changing speed limits")
struct SpeedGateTests {
    /// Downloads with one or several connections each under a common limit, on their own link.
    struct Scene {
        static let tick: Duration = .milliseconds(5)

        let shared: SpeedLimiter
        let own: [SpeedLimiter]
        var gates: [SpeedGate]
        /// The maximum bytes of each connection per tick.
        let perTick: Int
        var now = ContinuousClock.now
        /// The bytes of each tick by connection.
        var history: [[Int]] = []

        init(downloads: Int, connections: Int = 1, limit: Int64, ownLimit: Int64 = 0, linkPerConnection: Int = 2_500_000) {
            let shared = SpeedLimiter(bytesPerSecond: limit)
            let own = (0..<downloads).map { _ in SpeedLimiter(bytesPerSecond: ownLimit) }
            (self.shared, self.own) = (shared, own)
            gates = own.flatMap { own in (0..<connections).map { _ in SpeedGate([own, shared]) } }
            perTick = linkPerConnection / 200
            for gate in gates { gate.open(for: nil) }
        }

        mutating func run(for duration: Duration) {
            for step in 0..<Int(duration / Self.tick) {
                now += Self.tick
                var passed = Array(repeating: 0, count: gates.count)
                for offset in gates.indices {
                    // Another connection is first each time.
                    let index = (offset + step) % gates.count
                    while passed[index] < perTick {
                        let count = min(gates[index].allowance { now }, perTick - passed[index])
                        guard count > 0 else { break }
                        gates[index].passed(count)
                        passed[index] += count
                    }
                }
                history.append(passed)
            }
        }

        mutating func set(_ limit: Int64) { shared.setLimit(bytesPerSecond: limit, now: now) }
        mutating func setOwn(_ limit: Int64) { for limiter in own { limiter.setLimit(bytesPerSecond: limit, now: now) } }

        /// The maximum bytes of any window of that length since a tick.
        func most(in window: Duration, since tick: Int) -> Int {
            let sums = history[tick...].map { $0.reduce(0, +) }
            let length = Int(window / Self.tick)
            guard sums.count >= length else { return 0 }
            var sum = sums.prefix(length).reduce(0, +)
            var most = sum
            for index in length..<max(length, sums.count) {
                sum += sums[index] - sums[index - length]
                most = max(most, sum)
            }
            return most
        }

        /// The maximum time without bytes of a connection since a tick.
        func longestSilence(since tick: Int) -> Duration {
            var longest = 0
            for index in gates.indices {
                var silence = 0
                for passed in history[tick...] {
                    silence = passed[index] > 0 ? 0 : silence + 1
                    longest = max(longest, silence)
                }
            }
            return Self.tick * longest
        }
    }

    @Test(
        "A lower limit applies at once to all transfers",
        arguments: [
            (downloads: 8, connections: 1, before: 0, after: 50_000), (8, 1, 20_000_000, 50_000), (8, 4, 20_000_000, 50_000),
            (3, 16, 100_000_000, 10_000), (1, 1, 0, 1000), (64, 1, 20_000_000, 100_000),
        ] as [(downloads: Int, connections: Int, before: Int64, after: Int64)])
    func lowered(downloads: Int, connections: Int, before: Int64, after: Int64) {
        var scene = Scene(downloads: downloads, connections: connections, limit: before)
        scene.run(for: .seconds(2))
        let change = scene.history.count
        scene.set(after)
        scene.run(for: .seconds(12))
        for seconds in [1, 2, 5] {
            #expect(scene.most(in: .seconds(seconds), since: change) <= Int(after) * seconds + Int(after) / 4 + 2000)
        }
        #expect(scene.longestSilence(since: change) <= .seconds(3))
        let total = scene.history[change...].flatMap { $0 }.reduce(0, +)
        #expect(total >= Int(after) * 11)
        let shares = scene.gates.indices.map { index in scene.history[change...].reduce(0) { $0 + $1[index] } }
        #expect((shares.max() ?? 0) <= 2 * (shares.min() ?? 0) + 2000)
    }

    @Test(
        "A higher limit applies at once, even to waiting transfers",
        arguments: [(1, 1_000_000), (50_000, 4_000_000), (50_000, 0), (1, 0)] as [(Int64, Int64)])
    func raised(before: Int64, after: Int64) {
        var scene = Scene(downloads: 8, limit: before)
        scene.run(for: .seconds(3))
        let change = scene.history.count
        scene.set(after)
        scene.run(for: .seconds(5))
        let expected = after == 0 ? 20_000_000 : Int(after)
        let total = scene.history[change...].flatMap { $0 }.reduce(0, +)
        #expect(total >= expected * 5 * 9 / 10)
        if after > 0 { #expect(total <= expected * 5 + expected / 4) }
        #expect(scene.longestSilence(since: change) <= .milliseconds(500))
    }

    @Test("Own and common limits can change in any order")
    func bothLimits() {
        var scene = Scene(downloads: 8, connections: 2, limit: 20_000_000, ownLimit: 1_000_000)
        scene.run(for: .seconds(1))
        // The common limit becomes the lower one: amounts that the own limit granted are too large for it.
        var change = scene.history.count
        scene.set(40_000)
        scene.run(for: .seconds(8))
        #expect(scene.most(in: .seconds(2), since: change) <= 92_000)
        #expect(scene.longestSilence(since: change) <= .seconds(2))
        change = scene.history.count
        scene.setOwn(2000)
        scene.run(for: .seconds(8))
        #expect(scene.most(in: .seconds(2), since: change) <= 8 * 2000 * 2 + 8 * 1000)
        #expect(scene.longestSilence(since: change) <= .seconds(2))
        change = scene.history.count
        scene.setOwn(0)
        scene.set(0)
        scene.run(for: .seconds(1))
        #expect(scene.history[change...].flatMap { $0 }.reduce(0, +) >= 16 * 2_250_000)
        change = scene.history.count
        scene.setOwn(5000)
        scene.run(for: .seconds(8))
        #expect(scene.most(in: .seconds(2), since: change) <= 8 * 5000 * 2 + 8 * 2000)
        #expect(scene.longestSilence(since: change) <= .seconds(2))
    }

    @Test("A limit raised from one byte per second has neither debts nor savings")
    func rest() {
        var scene = Scene(downloads: 8, limit: 1_000_000)
        scene.run(for: .seconds(1))
        for _ in 0..<3 {
            var change = scene.history.count
            scene.set(1)
            scene.run(for: .seconds(5))
            #expect(scene.most(in: .seconds(5), since: change) <= 7)
            change = scene.history.count
            scene.set(1_000_000)
            scene.run(for: .seconds(2))
            let total = scene.history[change...].flatMap { $0 }.reduce(0, +)
            #expect(total >= 1_800_000 && total <= 2_250_000)
        }
    }
}
