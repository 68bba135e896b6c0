import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Results of requests with a key")
struct IdempotencyStoreTests {
    private static let download = sampleRecord(7).download

    private func key(_ name: String, _ request: String = "a") -> RequestKey { RequestKey(name, request: Array(request.utf8)) }

    private func record(
        _ name: String, _ request: String = "a", at milliseconds: Int64 = 0, refusal: Int = 0
    ) -> IdempotencyRecord {
        let detail = String(repeating: "A", count: refusal)
        let outcome: Addition.Outcome =
            refusal > 0 ? .failure(Problem(.notFound, detail)) : .success(.created(Self.download))
        return IdempotencyRecord(
            key: name, digest: key(name, request).digest, outcomes: [outcome],
            createdAt: Timestamp(millisecondsSinceEpoch: milliseconds))
    }

    /// `unknown`, `mismatch`, or whether the found download is the added one.
    private func lookUp(_ key: RequestKey, in memory: IdempotencyStore, now milliseconds: Int64) -> String {
        switch memory.lookUp(key, now: time(milliseconds)) {
        case .unknown: "unknown"
        case .mismatch: "mismatch"
        case .found(let record):
            if case .success(.created(let download))? = record.outcomes.first, download.id == Self.download.id {
                "found"
            } else {
                "other"
            }
        }
    }

    private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: milliseconds) }

    @Test("Keys that look alike are different", arguments: LookAlikes.texts)
    func lookAlikes(first: String, second: String) {
        var memory = IdempotencyStore()
        #expect(memory.remember(record(first), now: time(0)) == [])
        #expect(lookUp(key(second), in: memory, now: 0) == "unknown")
        #expect(memory.remember(record(second, "b"), now: time(0)) == [])
        #expect(memory.count == 2)
        #expect(lookUp(key(first), in: memory, now: 0) == "found")
        #expect(lookUp(key(second, "b"), in: memory, now: 0) == "found")
        memory.forget(first)
        #expect(lookUp(key(first), in: memory, now: 0) == "unknown" && memory.count == 1)
    }

    @Test("A key is known with its request, refused with another, and unknown after a day")
    func lookUp() {
        var memory = IdempotencyStore()
        func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] { memory.remember(record, now: now) }
        #expect(lookUp(key("k"), in: memory, now: 0) == "unknown")
        #expect(remember(record("k"), now: time(0)) == [])
        #expect(lookUp(key("k"), in: memory, now: 86_399_999) == "found")
        #expect(lookUp(key("k", "b"), in: memory, now: 1) == "mismatch")
        #expect(lookUp(key("k"), in: memory, now: 86_400_000) == "unknown")
        #expect(lookUp(key("K"), in: memory, now: 1) == "unknown")
    }

    @Test("Removes the oldest keys beyond the limit")
    func keys() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(keys: 3))
        var forgotten: [String] = []
        for number in 0..<10 { forgotten += memory.remember(record("k\(number)", at: Int64(number)), now: time(Int64(number))) }
        #expect(forgotten == (0..<7).map { "k\($0)" })
        #expect(memory.count == 3)
        #expect(lookUp(key("k7"), in: memory, now: 10) == "found")
    }

    @Test("Removes the oldest keys beyond the limit of bytes, and keeps the newest of any size")
    func bytes() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(bytes: 1_000))
        func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] { memory.remember(record, now: now) }
        #expect(remember(record("a"), now: time(0)) == [])
        #expect(remember(record("b", refusal: 2_000), now: time(0)) == ["a"])
        #expect(lookUp(key("b"), in: memory, now: 0) != "unknown")
        #expect(remember(record("c"), now: time(0)) == ["b"])
        #expect(memory.count == 1)
    }

    @Test("A key that is a day old is removed by the next one, even if it comes last")
    func age() {
        var memory = IdempotencyStore()
        func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] { memory.remember(record, now: now) }
        _ = memory.remember(record("a", at: 0), now: time(0))
        _ = memory.remember(record("b", at: 50), now: time(50))
        #expect(remember(record("c", at: 86_400_000), now: time(86_400_000)) == ["a"])
        #expect(remember(record("d", at: 1), now: time(200_000_000)) == ["b", "c", "d"])
        #expect(memory.count == 0)
    }

    @Test("A forgotten key can be used again")
    func forget() {
        var memory = IdempotencyStore(limits: IdempotencyStore.Limits(keys: 2))
        func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] { memory.remember(record, now: now) }
        _ = memory.remember(record("a"), now: time(0))
        _ = memory.remember(record("b"), now: time(0))
        memory.forget("a")
        memory.forget("a")
        #expect(lookUp(key("a"), in: memory, now: 0) == "unknown")
        #expect(remember(record("a", "x"), now: time(0)) == [])
        #expect(lookUp(key("a", "x"), in: memory, now: 0) == "found")
        #expect(remember(record("c"), now: time(0)) == ["b"])
    }
}
