import HTTPCore
import Testing

@testable import HTTPServer

@Suite struct WebSocketStateTests {
    private let start = Moment.now
    private let limits = {
        var limits = WebSocketLimits()
        limits.pingInterval = .seconds(30)
        return limits
    }()

    private func at(_ seconds: Double) -> Moment { start + .seconds(seconds) }

    private func open() -> WebSocketState { WebSocketState(now: start, limits: limits) }

    @Test("Pings a quiet client, and drops it if it stays quiet")
    func aQuietClientIsPinged() {
        var state = open()
        #expect(state.deadline == at(30))
        #expect(state.expired(at(29.9), isReading: true, limits: limits) == .nothing)
        #expect(state.expired(at(30), isReading: true, limits: limits) == .ping)
        #expect(state.deadline == at(60))
        #expect(state.expired(at(59), isReading: true, limits: limits) == .nothing)
        #expect(state.expired(at(60), isReading: true, limits: limits) == .drop)
    }

    @Test("A client that sends anything after a ping stays while it does")
    func aClientThatSaysAnything() {
        var state = open()
        for round in 1...10 {
            let time = Double(round) * 40
            #expect(state.expired(at(time), isReading: true, limits: limits) == .ping)
            state.heard(at(time + 10), limits: limits)
            #expect(state.deadline == at(time + 40))
        }
    }

    @Test("A client whose input is not read is not quiet")
    func unreadClientsAreNotQuiet() {
        var state = open()
        #expect(state.expired(at(30), isReading: false, limits: limits) == .nothing)
        #expect(state.deadline == at(60))
        state.hasRead(isInMessage: true, isNewMessage: false, at(31), limits: limits)
        #expect(state.expired(at(100), isReading: false, limits: limits) == .nothing)
        #expect(state.deadline == at(130))
        #expect(state.expired(at(130), isReading: true, limits: limits) == .ping)
    }

    @Test("A message's time begins with its first frame, despite other frames")
    func aMessageHasItsTime() {
        var state = open()
        for second in stride(from: 5.0, to: 65, by: 5) {
            state.heard(at(second), limits: limits)
            state.hasRead(isInMessage: true, isNewMessage: false, at(second), limits: limits)
        }
        #expect(state.deadline == at(65))
        #expect(state.expired(at(65), isReading: true, limits: limits) == .refuseMessage)
    }

    @Test("The next message has its own time; between messages there is no limit")
    func theNextMessageHasItsOwn() {
        var state = open()
        state.hasRead(isInMessage: true, isNewMessage: false, at(1), limits: limits)
        state.heard(at(50), limits: limits)
        state.hasRead(isInMessage: true, isNewMessage: true, at(50), limits: limits)
        #expect(state.expired(at(61), isReading: true, limits: limits) == .nothing)
        state.heard(at(109), limits: limits)
        state.hasRead(isInMessage: false, isNewMessage: true, at(109), limits: limits)
        #expect(state.expired(at(110), isReading: true, limits: limits) == .nothing)
    }

    @Test("Sends the close once, and waits a limited time for the client's")
    func ourCloseIsSentOnce() {
        var state = open()
        #expect(state.close(at(1), within: .seconds(5)) == true)
        #expect(state.close(at(2), within: .seconds(5)) == false)
        #expect(state.phase == .closing)
        #expect(state.deadline == at(6))
        #expect(state.expired(at(5.9), isReading: true, limits: limits) == .nothing)
        #expect(state.expired(at(6), isReading: true, limits: limits) == .drop)
        #expect(state.peerClosed() == false)
        #expect(state.phase == .ended)
        #expect(!state.leavesInputUnread)
        #expect(state.deadline == nil)
    }

    @Test("Responds to the client's close once")
    func theClientsCloseIsAnswered() {
        var state = open()
        #expect(state.peerClosed() == true)
        #expect(state.phase == .ended)
        #expect(state.peerClosed() == false)
        #expect(state.close(at(1), within: .seconds(5)) == false)
        #expect(state.fail() == false)
    }

    @Test("Reports invalid input once, and does not read the following bytes")
    func invalidInputIsReported() {
        var state = open()
        #expect(state.fail() == true)
        #expect(state.phase == .ended)
        #expect(state.leavesInputUnread)
        var closing = open()
        _ = closing.close(at(1), within: .seconds(5))
        #expect(closing.fail() == false)
        #expect(closing.phase == .ended)
    }
}
