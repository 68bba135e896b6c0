import HTTPClient
import TestSupport
import Testing

@testable import Catalog

struct RateBudgetTests {
    private static let start = ContinuousClock.Instant.now

    private func budget(tokens: Int = 3, longestWait: Duration = .seconds(2)) -> RateBudget {
        RateBudget(tokens: tokens, longestWait: longestWait, backoff: .seconds(30), longestBackoff: .seconds(300))
    }

    /// The arrival and the grant of each request, in seconds; nil for a refusal, with the time to return.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let arrivals: [(at: Double, turn: Double?, retryAfter: Double?)]
        var testDescription: String { name }
    }

    @Test(
        "Grants requests in order",
        arguments: [
            Case(name: "all tokens at once", arrivals: [(0, 0, nil), (0, 0, nil), (0, 0, nil), (0, nil, 60)]),
            Case(
                name: "a token comes back a minute after its use",
                arrivals: [
                    (0, 0, nil), (10, 10, nil), (20, 20, nil), (59.9, 60, nil), (60, nil, 10), (70, 70, nil), (80, 80, nil),
                ]),
            Case(
                name: "a turn within two seconds is waited for, others in order behind it",
                arrivals: [
                    (0, 0, nil), (1, 1, nil), (1.5, 1.5, nil), (58, 60, nil), (59.5, 61, nil), (59.6, 61.5, nil),
                    (59.7, nil, 60.3),
                ]),
            Case(name: "just too far off", arrivals: [(0, 0, nil), (0, 0, nil), (0, 0, nil), (57.9, nil, 2.1), (58, 60, nil)]),
            Case(
                name: "nobody for an hour",
                arrivals: [(0, 0, nil), (0, 0, nil), (3600, 3600, nil), (3600, 3600, nil), (3600, 3600, nil), (3600, nil, 60)]),
        ])
    func tokensAreGrantedInOrder(table: Case) {
        var budget = budget()
        for (at, turn, retryAfter) in table.arrivals {
            let taken = budget.take(at: Self.start.advanced(by: .milliseconds(Int64((at * 1000).rounded()))))
            if let turn {
                #expect(taken == .at(Self.start.advanced(by: .milliseconds(Int64((turn * 1000).rounded())))), "at \(at)")
            } else if let retryAfter {
                #expect(taken == .refused(retryAfter: .milliseconds(Int64((retryAfter * 1000).rounded()))), "at \(at)")
            }
        }
    }

    @Test("No minute has more requests than tokens")
    func noMinuteSeesMoreRequestsThanTokens() {
        var budget = budget(tokens: 20)
        var turns: [ContinuousClock.Instant] = []
        var generator = SeededGenerator(seed: 7)
        var now = Self.start
        for _ in 0..<5_000 {
            now = now.advanced(by: .milliseconds(Int64.random(in: 0...1_500, using: &generator)))
            if case .at(let turn) = budget.take(at: now) { turns.append(turn) }
        }
        #expect(turns.count > 1_000)
        for index in turns.indices.dropFirst(20) {
            #expect(turns[index - 20].duration(to: turns[index]) >= .seconds(60))
        }
    }

    @Test("Replicas that share tokens never exceed them, even as replicas start and end", arguments: 1...7)
    func sharedByReplicas(shares: Int) {
        var budgets = (0..<shares).map { _ in budget(tokens: 3, longestWait: .zero) }
        var turns: [Double] = []
        for second in stride(from: 0.0, to: 900, by: 1) {
            for index in budgets.indices {
                if case .at = budgets[index].take(at: Self.start + .seconds(second), of: shares) { turns.append(second) }
            }
        }
        // A whole number of tokens each; at most one request of each replica is early, at the beginning.
        let later = turns.filter { $0 >= 60 * Double(shares) }
        for turn in later { #expect(later.count { $0 > turn - 60 && $0 <= turn } <= max(3, shares)) }
        #expect(Double(later.count) <= 3 * 15)
        #expect(later.count >= shares)
    }

    @Test("A returned token is used by the next request")
    func returnedTokensAreReused() {
        var budget = budget(tokens: 1)
        #expect(budget.take(at: Self.start) == .at(Self.start))
        budget.release(Self.start)
        #expect(budget.take(at: Self.start) == .at(Self.start))
        #expect(budget.take(at: Self.start) == .refused(retryAfter: .seconds(60)))
    }

    @Test("Repeated throttling doubles the pause up to its bound; a response resets it")
    func throttlingAgainDoublesTheTimeUpToItsBoundAndAnAnswerResetsIt() {
        var budget = budget()
        var now = Self.start
        for seconds in [30, 60, 120, 240, 300, 300] {
            #expect(budget.throttled(at: now, retryAfter: nil) == .seconds(seconds))
            #expect(budget.take(at: now) == .refused(retryAfter: .seconds(seconds)))
            now = now.advanced(by: .seconds(seconds))
            #expect(budget.closure(at: now) == nil)
        }
        budget.succeeded()
        #expect(budget.throttled(at: now, retryAfter: nil) == .seconds(30))
    }

    @Test("Concurrent throttled responses count once")
    func severalThrottledAnswersAtOnceAreOneOccasion() {
        var budget = budget()
        #expect(budget.throttled(at: Self.start, retryAfter: nil) == .seconds(30))
        _ = budget.throttled(at: Self.start, retryAfter: nil)
        let later = Self.start.advanced(by: .seconds(400))
        #expect(budget.throttled(at: later, retryAfter: nil) == .seconds(60))
    }
}

/// The budget with real requests.
@Suite(.timeLimit(.minutes(3)))
struct WaitTests {
    private static let song = FakeClient.Outcome.success(.with(Fixture.song()))

    @Test("Refuses the twenty-first search of a minute")
    func twentyFirstSearchOfAMinuteIsRefused() async throws {
        let bench = Bench { _ in Self.song }
        for number in 0..<20 { _ = try await bench.catalog.search(try query("term=\(number)")) }
        let search = try query("term=20")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.search(search) }
        #expect(error == .upstreamRateLimited(retryAfter: .seconds(60)))
        #expect(bench.client.count == 20)
        // A cached response needs no token, nor does the other source.
        _ = try await bench.catalog.search(try query("term=3"))
        bench.clock.advance(by: .seconds(60))
        _ = try await bench.catalog.search(search)
        #expect(bench.client.count == 21)
    }

    @Test("Waits for a token that is due soon")
    func nearTokensAreAwaited() async throws {
        let bench = Bench { _ in
            Self.song
        } configure: {
            $0.requestsPerMinute = 1
        }
        _ = try await bench.catalog.search(try query("term=a"))
        bench.clock.advance(by: .seconds(58))
        let search = try query("term=b")
        let task = Task { try await bench.catalog.search(search) }
        try await bench.clock.sleepers.wait { $0 == 1 }
        #expect(bench.client.count == 1)
        bench.clock.advance(by: .seconds(2))
        #expect(try await task.value.items.count == 1)
        #expect(bench.client.count == 2)
    }

    @Test("A cancelled waiter uses no token")
    func cancelledWaitersUseNoToken() async throws {
        let bench = Bench { _ in
            Self.song
        } configure: {
            $0.requestsPerMinute = 1
        }
        _ = try await bench.catalog.search(try query("term=a"))
        bench.clock.advance(by: .seconds(59))
        let search = try query("term=b")
        let task = Task { await failure { () async throws(CatalogError) in try await bench.catalog.search(search) } }
        try await bench.clock.sleepers.wait { $0 == 1 }
        task.cancel()
        #expect(await task.value == .cancelled)
        try await bench.clock.sleepers.wait { $0 == 0 }
        bench.clock.advance(by: .seconds(1))
        #expect(bench.client.count == 1)
        // A cancelled waiter learns this at once, and its token is free a moment later.
        let next = try query("term=c")
        var answer: SearchResponse?
        while answer == nil {
            do throws(CatalogError) {
                answer = try await bench.catalog.search(next)
            } catch {
                try #require(error == .upstreamRateLimited(retryAfter: .seconds(60)))
                try await nextTurn()
            }
        }
        #expect(answer?.items.count == 1)
        #expect(bench.client.count == 2)
    }

    @Test("Throttling reaches waiting requests")
    func throttlingReachesWaitingRequests() async throws {
        let bench = Bench(configure: { $0.requestsPerMinute = 1 })
        let (a, b) = (try query("term=a"), try query("term=b"))
        let first = Task { await failure { () async throws(CatalogError) in try await bench.catalog.search(a) } }
        try await bench.client.requests.wait { $0.count == 1 }
        bench.clock.advance(by: .seconds(59))
        let second = Task { await failure { () async throws(CatalogError) in try await bench.catalog.search(b) } }
        try await bench.clock.sleepers.wait { $0 == 1 }
        bench.client.respond(0, .success(.with(status: 403, type: nil, "")))
        #expect(await first.value == .upstreamRateLimited(retryAfter: .seconds(30), httpStatus: 403))
        bench.clock.advance(by: .seconds(1))
        #expect(await second.value == .upstreamRateLimited(retryAfter: .seconds(29)))
        #expect(bench.client.count == 1)
    }
}

/// The same numbers in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
