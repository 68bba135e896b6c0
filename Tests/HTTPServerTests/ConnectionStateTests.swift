import HTTPCore
import Testing

@testable import HTTPServer

@Suite struct ConnectionStateTests {
    private let start = Moment.now
    private let limits = ServerLimits()

    private func at(_ seconds: Double) -> Moment { start + .seconds(seconds) }

    private func fresh() -> ConnectionState { ConnectionState(now: start, limits: limits) }

    private func head(
        _ framing: BodyFraming = .none, keepsAlive: Bool = true, expects: Bool = false, version: HTTPVersion = .http11
    )
        -> RequestHead
    {
        RequestHead(method: .post, version: version, framing: framing, keepsAlive: keepsAlive, expectsContinue: expects)
    }

    /// A connection in each phase, reached as in operation.
    private func state(in phase: ConnectionState.Phase, at now: Moment? = nil) -> ConnectionState {
        let now = now ?? start
        var state = fresh()
        switch phase {
        case .awaiting: break
        case .head: state.headBegan(now, limits: limits)
        case .body: _ = state.headCompleted(head(.length(10)), bodyHasBegun: false, now: now, limits: limits)
        case .handling:
            _ = state.headCompleted(head(), bodyHasBegun: false, now: now, limits: limits)
            state.handlingBegan(now, grace: limits.halfCloseGrace)
        case .sending:
            _ = state.headCompleted(head(), bodyHasBegun: false, now: now, limits: limits)
            state.responseBegan(isSending: true)
        case .upgraded:
            _ = state.headCompleted(head(), bodyHasBegun: false, now: now, limits: limits)
            _ = state.upgradeBegan()
        case .finishing:
            _ = state.headCompleted(head(keepsAlive: false), bodyHasBegun: false, now: now, limits: limits)
            state.responseBegan(isSending: false)
        case .lingering:
            state.refused()
            state.responseBegan(isSending: false)
            _ = state.paused(
                isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: now, limits: limits)
        case .closed: state.close()
        }
        #expect(state.phase == phase)
        return state
    }

    /// Serves one request, so that the connection is kept and idle since `now`.
    private func kept(at now: Moment) -> ConnectionState {
        var state = fresh()
        _ = state.headCompleted(head(), bodyHasBegun: false, now: now, limits: limits)
        state.responseBegan(isSending: false)
        #expect(
            state.paused(isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: now, limits: limits)
                == .wait)
        return state
    }

    @Test(
        "A client without a permit may be closed while the service waits for it",
        arguments: [
            (ConnectionState.Phase.awaiting, true, true), (.body, false, true), (.body, true, true), (.sending, true, true),
            (.sending, false, false), (.finishing, true, true), (.upgraded, false, true), (.handling, true, false),
        ])
    func strangers(phase: ConnectionState.Phase, isPending: Bool, isIdle: Bool) {
        func idle(hasPermit: Bool, _ state: inout ConnectionState, _ seconds: Double) -> Moment? {
            _ = state.paused(
                isPending: isPending, hasProgressed: true, hasUnreadInput: false, hasPermit: hasPermit, now: at(seconds),
                limits: limits)
            return state.idleSince
        }
        var state = phase == .awaiting ? kept(at: start) : self.state(in: phase, at: start)
        if phase == .awaiting {
            _ = state.headCompleted(head(), bodyHasBegun: false, now: start, limits: limits)
            state.responseBegan(isSending: false)
        }
        #expect(idle(hasPermit: false, &state, 1) == (isIdle ? at(1) : nil))
        // Despite its progress since.
        #expect(idle(hasPermit: false, &state, 2) == (isIdle ? at(1) : nil))
        #expect(idle(hasPermit: true, &state, 3) == nil)
    }

    @Test("A connection is idle from its start, from its last response's end or from its next head's start")
    func idleTime() {
        var state = fresh()
        #expect(state.idleSince == start)
        // The time of a slow first head began with the connection.
        state.headBegan(at(1), limits: limits)
        #expect(state.idleSince == start)
        _ = state.headCompleted(head(), bodyHasBegun: false, now: at(2), limits: limits)
        #expect(state.idleSince == nil)
        state.responseBegan(isSending: false)
        #expect(state.idleSince == nil)
        // The client has not received the whole response.
        _ = state.paused(isPending: true, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: at(3), limits: limits)
        #expect(state.idleSince == nil)
        for time in [4.0, 5.0] {
            _ = state.paused(
                isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: at(time), limits: limits)
            #expect(state.idleSince == at(4))
        }
        state.headBegan(at(6), limits: limits)
        #expect(state.idleSince == at(6))
        for phase in [ConnectionState.Phase.body, .handling, .sending, .upgraded, .finishing, .closed] {
            #expect(self.state(in: phase).idleSince == nil)
        }
        #expect(self.state(in: .lingering, at: at(7)).idleSince == at(7))
        let surplus = ConnectionState(now: start, isSurplus: true, limits: limits)
        #expect(surplus.deadline == start + limits.surplusTimeout)
    }

    @Test(
        "The framing of a head decides the next phase",
        arguments: [
            (BodyFraming.none, false, ConnectionState.HeadStep.handle), (.length(0), true, .handle),
            (.length(1), false, .readBody(sendsContinue: false)), (.length(1), true, .readBody(sendsContinue: true)),
            (.chunked, true, .readBody(sendsContinue: true)), (.length(1_048_576), false, .readBody(sendsContinue: false)),
            (.length(1_048_577), false, .refuse(.contentTooLarge(limit: 1_048_576))),
            (.length(.max), true, .refuse(.contentTooLarge(limit: 1_048_576))),
        ])
    func aHeadsFramingDecidesWhat(framing: BodyFraming, expects: Bool, step: ConnectionState.HeadStep) {
        var state = fresh()
        #expect(state.headCompleted(head(framing, expects: expects), bodyHasBegun: false, now: start, limits: limits) == step)
    }

    @Test(
        "Sends no 100 Continue after the body has begun, nor to HTTP/1.0",
        arguments: [(HTTPVersion.http11, true), (.http10, false)])
    func no100ContinueOnceThe(version: HTTPVersion, hasBegun: Bool) {
        var state = fresh()
        let step = state.headCompleted(
            head(.length(1), expects: true, version: version), bodyHasBegun: hasBegun, now: start, limits: limits)
        #expect(step == .readBody(sendsContinue: false))
    }

    @Test(
        "Each phase has its deadline, and expires at it",
        arguments: [
            (ConnectionState.Phase.awaiting, 10.0, ConnectionState.Expiry.close), (.head, 10, .refuse(.requestTimeout)),
            (.body, 10, .refuse(.requestTimeout)), (.handling, 1e6, .nothing), (.sending, 1e6, .nothing),
            (.upgraded, 1e6, .nothing), (.finishing, 1e6, .nothing),
            (.lingering, 5, .close), (.closed, 1e6, .nothing),
        ])
    func eachPhaseHasItsDeadline(
        phase: ConnectionState.Phase, seconds: Double, expiry: ConnectionState.Expiry
    ) {
        var state = state(in: phase)
        #expect(state.expired(at(seconds - 0.001), limits: limits) == .nothing)
        #expect(state.deadline == (expiry == .nothing ? nil : at(seconds)))
        #expect(state.expired(at(seconds), limits: limits) == expiry)
    }

    @Test("The first head's time begins with the connection, later heads' times with their first byte")
    func aNewConnectionsFirstHead() {
        var first = fresh()
        first.headBegan(at(9), limits: limits)
        #expect(first.deadline == at(10))
        var later = kept(at: at(100))
        #expect(later.deadline == at(160))
        later.headBegan(at(150), limits: limits)
        #expect(later.deadline == at(160))
        later.headBegan(at(155), limits: limits)
        #expect(later.deadline == at(160), "more bytes of a head don't extend its time")
        #expect(later.expired(at(160), limits: limits) == .refuse(.requestTimeout))
    }

    @Test("Closes a kept connection after 60 idle seconds")
    func aKeptConnectionIsClosed() {
        var state = kept(at: at(5))
        #expect(state.expired(at(64.9), limits: limits) == .nothing)
        #expect(state.expired(at(65), limits: limits) == .close)
    }

    @Test(
        "Requires 1 KiB per second of a body over each 10 s",
        arguments: [(10_240, ConnectionState.Expiry.nothing), (10_239, .refuse(.requestTimeout))])
    func aBodyMustBring1(bytes: Int, expiry: ConnectionState.Expiry) {
        var state = fresh()
        _ = state.headCompleted(head(.chunked), bodyHasBegun: false, now: start, limits: limits)
        state.bodyArrived(bytes)
        #expect(state.expired(at(10), limits: limits) == expiry)
        guard expiry == .nothing else { return }
        #expect(state.deadline == at(20), "the next window begins, and begins empty")
        #expect(state.expired(at(20), limits: limits) == .refuse(.requestTimeout))
    }

    @Test("Drops output after 60 s without progress")
    func unreadOutputIsDropped() {
        var state = state(in: .sending)
        func pause(_ now: Double, progressed: Bool) {
            _ = state.paused(
                isPending: true, hasProgressed: progressed, hasUnreadInput: false, hasPermit: true, now: at(now), limits: limits)
        }
        pause(0, progressed: true)
        pause(30, progressed: false)
        #expect(state.expired(at(59.9), limits: limits) == .nothing)
        pause(59, progressed: true)
        #expect(state.expired(at(118), limits: limits) == .nothing)
        #expect(state.expired(at(119), limits: limits) == .reset)
        _ = state.paused(
            isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: at(119), limits: limits)
        #expect(state.deadline == nil)
    }

    @Test("Counts bytes that leave the kernel, checked a moment after the last write and then every 10 s")
    func bytesThatLeaveTheKernelCount() {
        var state = state(in: .sending)
        _ = state.paused(isPending: true, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: start, limits: limits)
        // Each check: its time, and whether the client has received bytes.
        let looks: [(at: Double, taken: Bool)] = [
            (1, true), (11, false), (21, true), (31, false), (41, false), (51, false), (61, false), (71, false), (81, false),
        ]
        for look in looks {
            #expect(state.deadline == at(look.at))
            #expect(!state.isOutputCheckDue(at(look.at - 0.1)) && state.isOutputCheckDue(at(look.at)))
            state.outputWasSeen(taken: look.taken, at(look.at), limits: limits)
            #expect(state.expired(at(look.at), limits: limits) == (look.at < 81 ? .nothing : .reset))
        }
        _ = state.paused(
            isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: at(82), limits: limits)
        #expect(!state.isOutputCheckDue(at(1e6)))
    }

    @Test("The idle time begins when the response has been received")
    func theIdleTimeBeginsWhen() {
        var state = fresh()
        _ = state.headCompleted(head(), bodyHasBegun: false, now: start, limits: limits)
        state.responseBegan(isSending: false)
        #expect(
            state.paused(isPending: true, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: start, limits: limits)
                == .wait)
        #expect(state.expired(at(59), limits: limits) == .nothing)
        _ = state.paused(
            isPending: false, hasProgressed: true, hasUnreadInput: false, hasPermit: true, now: at(50), limits: limits)
        #expect(state.deadline == at(110))
    }

    @Test(
        "The end of the input ends phases that need input, and reports a request that it cut off",
        arguments: [
            (ConnectionState.Phase.awaiting, ConnectionState.Phase.finishing, false), (.head, .head, true), (.body, .body, true),
            (.handling, .handling, false), (.sending, .sending, false), (.upgraded, .upgraded, false),
            (.finishing, .finishing, false), (.lingering, .closed, false), (.closed, .closed, false),
        ])
    func theEndOfTheInput(
        phase: ConnectionState.Phase, after: ConnectionState.Phase, breaksOff: Bool
    ) {
        var state = state(in: phase)
        let isBrokenOff = state.inputEnded()
        #expect(isBrokenOff == breaksOff)
        #expect(state.phase == after)
    }

    @Test("A task has a moment to finish after the client's FIN, then its client is probed once")
    func aTaskHasAMoment() {
        var state = state(in: .handling, at: start)
        state.peerEnded(at(3), grace: limits.halfCloseGrace)
        #expect(state.deadline == at(4))
        state.peerEnded(at(3.5), grace: limits.halfCloseGrace)
        #expect(state.deadline == at(4), "a second report changes nothing")
        #expect(state.expired(at(4), limits: limits) == .probe)
        #expect(state.phase == .handling)
        #expect(state.deadline == nil)
    }

    @Test(
        "A connection without a proved right is closed during a task; one with a permit is not",
        arguments: [true, false])
    func handlingOfAStranger(isStranger: Bool) {
        var state = fresh()
        func pause() {
            _ = state.paused(
                isPending: false, hasProgressed: false, hasUnreadInput: false, hasPermit: false, now: at(2), limits: limits)
        }
        _ = state.headCompleted(head(), bodyHasBegun: false, now: at(1), limits: limits)
        state.handlingBegan(isStranger: isStranger, at(1), grace: limits.halfCloseGrace)
        pause()
        #expect(state.idleSince == (isStranger ? at(2) : nil))
        state.responseBegan(isSending: true)
        state.responseEnded()
        // The next request has its own id.
        _ = state.headCompleted(head(), bodyHasBegun: false, now: at(2), limits: limits)
        state.handlingBegan(at(2), grace: limits.halfCloseGrace)
        pause()
        #expect(state.idleSince == nil)
    }

    @Test("A FIN that arrives with the request leaves the task the same moment")
    func aFINThatCameWith() {
        var state = fresh()
        state.peerEnded(start, grace: limits.halfCloseGrace)
        _ = state.headCompleted(head(), bodyHasBegun: false, now: at(1), limits: limits)
        state.handlingBegan(at(1), grace: limits.halfCloseGrace)
        #expect(state.deadline == at(2))
    }

    @Test("A body is sent on after the client's FIN", arguments: [true, false])
    func aFINEndsNoBody(isEarly: Bool) {
        var state = fresh()
        if isEarly { state.peerEnded(start, grace: limits.halfCloseGrace) }
        _ = state.headCompleted(head(), bodyHasBegun: false, now: start, limits: limits)
        state.responseBegan(isSending: true)
        if !isEarly { state.peerEnded(start, grace: limits.halfCloseGrace) }
        #expect(state.phase == .sending)
        #expect(state.deadline == nil)
        state.responseEnded()
        #expect(state.phase == .awaiting)
        let isIncomplete = state.inputEnded()
        #expect(!isIncomplete)
        #expect(state.phase == .finishing)
    }

    @Test(
        "Closing waits for a client that may still be sending",
        arguments: [(false, false, ConnectionState.Pause.close), (true, false, .linger), (false, true, .linger)])
    func closingWaitsForAClient(refused: Bool, unread: Bool, pause: ConnectionState.Pause) {
        var state = fresh()
        if refused {
            state.refused()
        } else {
            _ = state.headCompleted(head(keepsAlive: false), bodyHasBegun: false, now: start, limits: limits)
        }
        state.responseBegan(isSending: false)
        #expect(
            state.paused(
                isPending: true, hasProgressed: true, hasUnreadInput: unread, hasPermit: true, now: start, limits: limits)
                == .wait)
        #expect(
            state.paused(
                isPending: false, hasProgressed: true, hasUnreadInput: unread, hasPermit: true, now: start, limits: limits)
                == pause)
    }

    @Test("Lingering has a limit in bytes")
    func lingeringHasABoundIn() {
        var state = state(in: .lingering)
        var limits = ServerLimits()
        limits.lingerBytes = 100
        let goesOn = (state.drained(99, limits: limits), state.drained(1, limits: limits))
        #expect(goesOn == (true, false))
    }

    @Test(
        "A shutdown ends connections without a pending response, and completes the others",
        arguments: [
            (ConnectionState.Phase.awaiting, ConnectionState.Phase.finishing), (.head, .finishing), (.body, .body),
            (.handling, .handling), (.sending, .sending), (.upgraded, .upgraded), (.finishing, .finishing),
            (.lingering, .lingering),
        ])
    func aShutdownEndsConnectionsThat(
        phase: ConnectionState.Phase, after: ConnectionState.Phase
    ) {
        var state = state(in: phase)
        state.stop(start, limits: limits)
        #expect(state.phase == after)
        switch after {
        case .body, .lingering:
            #expect(state.deadline == at(1))
            #expect(state.expired(at(1), limits: limits) == .close)
        case .handling:
            #expect(state.closesAfterResponse)
            state.responseBegan(isSending: false)
            #expect(state.phase == .finishing)
        case .sending:
            state.responseEnded()
            #expect(state.phase == .finishing)
        default: break
        }
    }

    @Test("Reads input only in phases that need it", arguments: [ConnectionState.Phase.awaiting, .head, .body])
    func inputIsReadWhereIt(
        phase: ConnectionState.Phase
    ) {
        #expect(state(in: phase).readsInput)
    }

    @Test(
        "Input waits during a response",
        arguments: [ConnectionState.Phase.handling, .sending, .upgraded, .finishing, .lingering, .closed])
    func inputWaitsWhileAResponse(phase: ConnectionState.Phase) {
        #expect(!state(in: phase).readsInput)
    }
}
