import HTTPCore
import Testing

@testable import Downloads

@Suite("Answers to requests with a key")
struct IdempotencyStoreTests {
    private static let id = DownloadID(value: 7)

    private func key(_ name: String, _ request: String = "a") -> RequestKey { RequestKey(name, request: Array(request.utf8)) }

    private func answer(_ name: String, _ request: String = "a", at milliseconds: Int64 = 0, words: Int = 0) -> KeptAnswer {
        let outcomes: [KeptOutcome] =
            words > 0 ? [.refused([UInt8](repeating: 65, count: words))] : [.created(Self.id, shown: [])]
        return KeptAnswer(
            key: name, digest: key(name, request).digest, outcomes: outcomes,
            createdAt: Timestamp(millisecondsSinceEpoch: milliseconds))
    }

    private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: milliseconds) }

    @Test("a key is known with its request, refused with another, and unknown after a day")
    func lookUp() {
        var memory = IdempotencyStore()
        func remember(_ answer: KeptAnswer, now: Timestamp) -> [String] { memory.remember(answer, now: now) }
        #expect(memory.lookUp(key("k"), now: time(0)) == .unknown)
        #expect(remember(answer("k"), now: time(0)) == [])
        #expect(memory.lookUp(key("k"), now: time(86_399_999)) == .answered([.created(Self.id, shown: [])]))
        #expect(memory.lookUp(key("k", "b"), now: time(1)) == .mismatch)
        #expect(memory.lookUp(key("k"), now: time(86_400_000)) == .unknown)
        #expect(memory.lookUp(key("K"), now: time(1)) == .unknown)
    }

    @Test("the oldest go when there are too many")
    func keys() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(keys: 3))
        var forgotten: [String] = []
        for number in 0..<10 { forgotten += memory.remember(answer("k\(number)", at: Int64(number)), now: time(Int64(number))) }
        #expect(forgotten == (0..<7).map { "k\($0)" })
        #expect(memory.count == 3)
        #expect(memory.lookUp(key("k7"), now: time(10)) == .answered([.created(Self.id, shown: [])]))
    }

    @Test("the oldest go when they take too much, and the newest stays whatever it takes")
    func bytes() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(bytes: 1_000))
        func remember(_ answer: KeptAnswer, now: Timestamp) -> [String] { memory.remember(answer, now: now) }
        #expect(remember(answer("a"), now: time(0)) == [])
        #expect(remember(answer("b", words: 2_000), now: time(0)) == ["a"])
        #expect(memory.lookUp(key("b"), now: time(0)) != .unknown)
        #expect(remember(answer("c"), now: time(0)) == ["b"])
        #expect(memory.count == 1)
    }

    @Test("what is a day old goes with the next that comes, also if it comes last")
    func age() {
        var memory = IdempotencyStore()
        func remember(_ answer: KeptAnswer, now: Timestamp) -> [String] { memory.remember(answer, now: now) }
        _ = memory.remember(answer("a", at: 0), now: time(0))
        _ = memory.remember(answer("b", at: 50), now: time(50))
        #expect(remember(answer("c", at: 86_400_000), now: time(86_400_000)) == ["a"])
        #expect(remember(answer("d", at: 1), now: time(200_000_000)) == ["b", "c", "d"])
        #expect(memory.count == 0)
    }

    @Test("a forgotten key can be used again")
    func forget() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(keys: 2))
        func remember(_ answer: KeptAnswer, now: Timestamp) -> [String] { memory.remember(answer, now: now) }
        _ = memory.remember(answer("a"), now: time(0))
        _ = memory.remember(answer("b"), now: time(0))
        memory.forget("a")
        memory.forget("a")
        #expect(memory.lookUp(key("a"), now: time(0)) == .unknown)
        #expect(remember(answer("a", "x"), now: time(0)) == [])
        #expect(memory.lookUp(key("a", "x"), now: time(0)) == .answered([.created(Self.id, shown: [])]))
        #expect(remember(answer("c"), now: time(0)) == ["b"])
    }
}
