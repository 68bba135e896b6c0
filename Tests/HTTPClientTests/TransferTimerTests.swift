import HTTPCore
import Testing

@testable import HTTPClient

@Suite
struct TransferTimerTests {
    let start = ContinuousClock.now

    func request(_ change: (inout ClientRequest) -> Void = { _ in }) throws -> ClientRequest {
        var request = ClientRequest(url: try url("http://a.example/"))
        change(&request)
        return request
    }

    @Test("Both timeouts together limit connecting")
    func connectingHasBothTimeouts() throws {
        var timer = TransferTimer(request: try request(), now: start)
        #expect(timer.due == start + .seconds(45))
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(44)) == nil)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(45))?.kind == "timedOut")
    }

    @Test("The time limit of the head begins when the connection is ready")
    func headIsAwaitedOnceConnected() throws {
        var timer = TransferTimer(request: try request { $0.headTimeout = .seconds(3) }, now: start)
        timer.connected(now: start + .seconds(2))
        #expect(timer.due == start + .seconds(5))
        #expect(timer.exceeded(bytes: 0, now: start + .milliseconds(4999)) == nil)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(5)) == .timedOut("no response head within 3.0 seconds"))
    }

    @Test("Each hop has its own time limit; all hops share the total")
    func eachHopHasOwnTime() throws {
        var timer = TransferTimer(
            request: try request {
                $0.headTimeout = .seconds(3)
                $0.totalTimeout = .seconds(100)
            }, now: start)
        for hop in 0..<10 {
            let now = start + .seconds(9 * hop)
            timer.beginHop(now: now)
            timer.connected(now: now)
            #expect(timer.due == now + .seconds(3))
        }
        timer.headArrived(now: start + .seconds(90))
        #expect(timer.exceeded(bytes: 100, now: start + .seconds(99)) == nil)
        #expect(timer.exceeded(bytes: 200, now: start + .seconds(100)) == .timedOut("no complete response within 100.0 seconds"))
    }

    @Test("Without limits, neither connecting nor the head expires")
    func unlimitedWaitsAreNeverDue() throws {
        for timeouts in [(nil, .seconds(1)), (.seconds(1), nil), (nil, nil)] as [(Duration?, Duration?)] {
            var timer = TransferTimer(
                request: try request { ($0.connectTimeout, $0.headTimeout) = timeouts }, now: start)
            #expect(timer.due == nil)
            #expect(timer.exceeded(bytes: 0, now: start + .seconds(1_000_000)) == nil)
            timer.connected(now: start)
            #expect((timer.due == nil) == (timeouts.1 == nil))
        }
    }

    @Test("A late head is awaited for as long as the sink bears it")
    func lateHeadIsBorne() throws {
        var timer = TransferTimer(request: try request { $0.headTimeout = .seconds(60) }, now: start)
        timer.connected(now: start)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(59)) { fatalError("asked too early") } == nil)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(61)) { .seconds(300) } == nil)
        #expect(timer.due == start + .seconds(300))
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(299)) { nil } == nil)
        let late = timer.exceeded(bytes: 0, now: start + .seconds(300)) { .seconds(300) }
        #expect(late == .timedOut("no response head within 300.0 seconds"))
        // A shorter limit than the request's own extends nothing.
        var patient = TransferTimer(request: try request { $0.headTimeout = .seconds(600) }, now: start)
        patient.connected(now: start)
        #expect(patient.exceeded(bytes: 0, now: start + .seconds(599)) { .seconds(300) } == nil)
        #expect(patient.exceeded(bytes: 0, now: start + .seconds(600)) { .seconds(300) }?.kind == "timedOut")
    }

    @Test("A body without limits never expires")
    func unlimitedBodyIsNeverDue() throws {
        var timer = TransferTimer(request: try request { $0.lowSpeedLimit = nil }, now: start)
        timer.headArrived(now: start)
        #expect(timer.due == nil)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(1_000_000)) == nil)
    }

    /// Calls `exceeded` whenever it is due, with the closure's number of bytes after that many seconds.
    func secondsUntilStalled(
        _ timer: inout TransferTimer, upTo end: Int, extended: Duration? = nil, bytes: (Double) -> Int64
    ) -> Double? {
        while let due = timer.due, due < start + .seconds(end) {
            let seconds = (due - start) / .seconds(1)
            if timer.exceeded(bytes: bytes(seconds), now: due, extended: { extended }) == .stalled { return seconds }
        }
        return nil
    }

    @Test("Notices silence after the period")
    func silenceIsNoticed() throws {
        var timer = TransferTimer(request: try request(), now: start)
        timer.headArrived(now: start)
        let seconds = try #require(secondsUntilStalled(&timer, upTo: 1000) { _ in 0 })
        #expect(seconds >= 30 && seconds < 34)
    }

    @Test("Notices silence equally soon after a fast start")
    func silenceAfterFastStartIsNoticed() throws {
        var timer = TransferTimer(request: try request(), now: start)
        timer.headArrived(now: start)
        let seconds = try #require(secondsUntilStalled(&timer, upTo: 1000) { min(Int64($0 * 1e6), 100_000_000) })
        #expect(seconds >= 130 && seconds < 138)
    }

    @Test("Silence is borne for as long as the sink says, and each byte begins it anew")
    func silenceIsBorne() throws {
        var timer = TransferTimer(request: try request(), now: start)
        timer.headArrived(now: start)
        let seconds = try #require(secondsUntilStalled(&timer, upTo: 1000, extended: .seconds(300)) { _ in 0 })
        #expect(seconds >= 300 && seconds < 305)
        var slow = TransferTimer(request: try request { $0.lowSpeedLimit = (.leastNormalMagnitude, .seconds(30)) }, now: start)
        slow.headArrived(now: start)
        // A byte every 250 s.
        #expect(secondsUntilStalled(&slow, upTo: 2000, extended: .seconds(300)) { Int64($0 / 250) } == nil)
        var resumable = TransferTimer(request: try request(), now: start)
        resumable.headArrived(now: start)
        let soon = try #require(secondsUntilStalled(&resumable, upTo: 1000, extended: .seconds(10)) { _ in 0 })
        #expect(soon >= 30 && soon < 34)
    }

    @Test("A body at the limit is not stalled, a slower one is")
    func slowestAllowedBodyGoesOn() throws {
        var timer = TransferTimer(request: try request { $0.lowSpeedLimit = (100, .seconds(8)) }, now: start)
        timer.headArrived(now: start)
        #expect(secondsUntilStalled(&timer, upTo: 1000) { Int64($0 * 100) } == nil)
        var slower = TransferTimer(request: try request { $0.lowSpeedLimit = (100, .seconds(8)) }, now: start)
        slower.headArrived(now: start)
        #expect(secondsUntilStalled(&slower, upTo: 1000) { Int64($0 * 90) } == 8)
    }

    @Test("A transfer that waits for its own speed limit is not stalled, and has a whole period afterwards")
    func ownLimitIsNoStall() throws {
        var timer = TransferTimer(request: try request(), now: start)
        timer.headArrived(now: start)
        timer.heldBack()
        #expect(timer.due == nil)
        #expect(timer.exceeded(bytes: 0, now: start + .seconds(2000)) == nil)
        timer.resumed(bytes: 40, now: start + .seconds(2000))
        let seconds = try #require(secondsUntilStalled(&timer, upTo: 3000) { _ in 40 })
        #expect(seconds >= 2030 && seconds < 2034)
    }

    @Test("A pause of the whole machine is no stall")
    func machinePauseIsNoStall() throws {
        var timer = TransferTimer(request: try request(), now: start)
        timer.headArrived(now: start)
        #expect(timer.exceeded(bytes: 10, now: start + .seconds(4)) == nil)
        #expect(timer.exceeded(bytes: 10, now: start + .seconds(4000)) == nil)
    }

    @Test(
        "Converts durations to milliseconds without overflow",
        arguments: [
            (Duration.zero, 0), (.milliseconds(1), 1), (.microseconds(1999), 1), (.seconds(15), 15000), (.seconds(-1), 0),
            (.milliseconds(-1), 0),
            (.seconds(Int64.max), 2_000_000_000),
        ])
    func durationsBecomeMilliseconds(duration: Duration, milliseconds: Int) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
