import HTTPCore
import Testing

@testable import PawlService

@Suite("Allowances")
struct AllowanceTests {
    private let size = Allowance.Size(burst: 3, perSecond: 0.5)
    private let start = ContinuousClock.now

    @Test("An allowance grants the burst at once, then its rate, and never saves more than the burst")
    func allowance() {
        var allowance = Allowance(size, now: start)
        for _ in 0..<3 { #expect(allowance.take(size, now: start) == nil) }
        #expect(allowance.take(size, now: start) == .seconds(2))
        #expect(allowance.take(size, now: start + .seconds(1)) == .seconds(1))
        #expect(allowance.take(size, now: start + .seconds(2)) == nil)
        #expect(allowance.wait(size, now: start + .seconds(2)) == .seconds(2))
        #expect(!allowance.isFull(size, now: start + .seconds(7)))
        #expect(allowance.isFull(size, now: start + .seconds(8)))
        let later = start + .seconds(3600)
        for _ in 0..<3 { #expect(allowance.take(size, now: later) == nil) }
        #expect(allowance.take(size, now: later) != nil)
    }

    @Test("A clock that stops or goes back refills nothing")
    func clock() {
        var allowance = Allowance(size, now: start)
        for _ in 0..<3 { _ = allowance.take(size, now: start) }
        #expect(allowance.take(size, now: start - .seconds(100)) == .seconds(2))
    }

    @Test("Each client has its own allowance")
    func clients() {
        var allowances = ClientAllowances(size)
        for _ in 0..<3 { #expect(allowances.take("10.0.0.1", now: start) == nil) }
        #expect(allowances.take("10.0.0.1", now: start) != nil)
        #expect(allowances.take("10.0.0.2", now: start) == nil)
    }

    @Test("A mark is charged once, and a refused mark is not charged")
    func marks() {
        var allowances = ClientAllowances(size)
        for mark in [1, 1, 2, 1, 2, 3, 3] { #expect(allowances.take("10.0.0.1", once: mark, now: start) == nil) }
        for mark in [4, 4, 5] { #expect(allowances.take("10.0.0.1", once: mark, now: start) == .seconds(2)) }
        for mark in [1, 2, 3] { #expect(allowances.take("10.0.0.1", once: mark, now: start) == nil) }
        #expect(allowances.take("10.0.0.2", once: 4, now: start) == nil)
        // The fourth mark is charged now, and replaces the first.
        let later = start + .seconds(2)
        #expect(allowances.take("10.0.0.1", once: 4, now: later) == nil)
        #expect(allowances.take("10.0.0.1", once: 4, now: later) == nil)
        #expect(allowances.take("10.0.0.1", once: 1, now: later) != nil)
    }

    @Test(
        "all addresses of an IPv6 network are one client",
        arguments: [
            ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false), ("10.0.0.1", "10.0.0.2", false), ("10.0.0.1", "10.0.0.1", true),
        ])
    func networks(left: String, right: String, areOne: Bool) {
        #expect((IPAddress.client(ofHost: left) == IPAddress.client(ofHost: right)) == areOne)
    }

    @Test("Memory is bounded, and clients with a full allowance are dropped first")
    func capacity() {
        var allowances = ClientAllowances(size)
        let later = start + .seconds(2)
        for number in 0..<ClientAllowances.capacity / 2 { _ = allowances.take("early \(number)", now: start) }
        for number in 0..<ClientAllowances.capacity / 2 { _ = allowances.take("late \(number)", now: later) }
        _ = allowances.take("one more", now: later)
        #expect(allowances.count == ClientAllowances.capacity / 2 + 1)
        for number in 0..<3 * ClientAllowances.capacity { _ = allowances.take("more \(number)", now: later) }
        #expect(allowances.count <= ClientAllowances.capacity)
    }
}
