import System
import Testing

@Suite("An outcome", .timeLimit(.minutes(1)))
struct OutcomeTests {
    @Test("Is set once, and all waits get it, earlier and later ones")
    func once() async {
        let outcome = Outcome<Int?>()
        let received = Locked<[Int?]>([])
        outcome.whenDone { value in received.withLock { $0.append(value) } }
        #expect(!outcome.isKnown)
        let early = Task { await outcome.value() }
        #expect(outcome.set(nil))
        #expect(!outcome.set(2))
        #expect(outcome.isKnown)
        outcome.whenDone { value in received.withLock { $0.append(value) } }
        #expect(received.withLock { $0 } == [nil, nil])
        #expect(await early.value == nil)
        #expect(await outcome.value() == nil)
    }

    @Test("Is set by the first wait whose limit has passed")
    func limit() async {
        let outcome = Outcome<Int>()
        async let patient = outcome.value(within: nil, orSetting: 3)
        #expect(await outcome.value(within: .milliseconds(1), orSetting: 1) == 1)
        #expect(!outcome.set(2))
        #expect(await patient == 1)
        #expect(await outcome.value(within: .zero, orSetting: 4) == 1)
    }
}
