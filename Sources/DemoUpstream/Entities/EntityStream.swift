internal import HTTPServer
internal import System

/// A body on its way: made while the socket takes it, at its pace, and broken off where a fault says so.
final class EntityStream: BodyStream {
    private struct State {
        var source: BodySource
        var pace: Pace
        var left: Int64
        var sent: Int64 = 0
        var isStopping = false
        /// The latest time at which a body that is to break off does so.
        var breaksOff: ContinuousClock.Instant?
        /// The pause before the next look whether the client has received everything.
        var pause = EntityStream.shortestPause
        var isEnded = false
        /// The most room there ever was: less means that something still waits to be sent.
        var largestRoom = 0
    }

    private let state: Locked<State>
    private let cut: BodyCut?
    /// Called with the number of bytes that were handed to the connection.
    private let onSend: @Sendable (Int) -> Void
    private let onEnd: @Sendable () -> Void
    private let hasLength: Bool
    private let delivery: Delivery

    /// The first pause between two looks whether the client has received what came before the break. Each pause is twice as long as the
    /// one before: a client that does not read for a while must not keep the only event loop busy.
    private static let shortestPause: Duration = .milliseconds(5)
    /// The longest pause between two looks.
    private static let longestPause: Duration = .milliseconds(160)
    /// The time after which a body breaks off although the client has not received everything.
    private static let patience: Duration = .seconds(40)
    /// How long a body stands still before its connection is closed: longer than any client waits for more.
    private static let longestStall: Duration = .seconds(120)

    /// - Parameter hasLength: whether the length is announced.
    init(
        source: BodySource, hasLength: Bool, pace: Pace, cut: BodyCut?, delivery: Delivery,
        onSend: @escaping @Sendable (Int) -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        state = Locked(State(source: source, pace: pace, left: source.length))
        self.cut = cut
        self.onSend = onSend
        self.onEnd = onEnd
        self.hasLength = hasLength
        self.delivery = delivery
    }

    func opened(_ waker: StreamWaker) {}

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            if state.isStopping { return .abort(reset: false) }
            state.largestRoom = max(state.largestRoom, limit)
            if let cut, state.sent >= cut.after || state.left == 0 {
                // A chunk is made in a buffer of its own, so that only the room tells; the room of a body with a length is also
                // bounded by what is left of it.
                let isFlushed = buffer.isEmpty && (hasLength || limit == state.largestRoom)
                return breakOff(cut.ending, &state, isFlushed: isFlushed, now: now)
            }
            if state.left == 0 { return .end }
            var wanted = min(Int64(max(0, limit)), state.left)
            if let cut { wanted = min(wanted, cut.after - state.sent) }
            switch state.pace.allowance(for: wanted, now: now) {
            case .wait(let until): return .wait(until: until)
            case .send(let count):
                let appended = state.source.append(upTo: Int(count), to: &buffer)
                state.sent += Int64(appended)
                state.left -= Int64(appended)
                state.pace.spend(Int64(appended))
                onSend(appended)
                return state.left == 0 && cut == nil ? .end : .more
            }
        }
    }

    /// Breaks off once the client has received all earlier bytes, because a break drops those that the server and the kernel still hold.
    /// A client that does not read is waited for as long as `patience`.
    private func breakOff(
        _ ending: BodyCut.Ending, _ state: inout State, isFlushed: Bool, now: ContinuousClock.Instant
    ) -> StreamStep {
        if ending == .stall {
            // A client that has gone shows only when something is sent: its connection must not be held for ever.
            let end = state.breaksOff ?? now + Self.longestStall
            state.breaksOff = end
            return now < end ? .wait(until: end) : .abort(reset: false)
        }
        guard let latest = state.breaksOff else {
            state.breaksOff = now + Self.patience
            return .wait(until: now + Self.shortestPause)
        }
        if now < latest, !isFlushed || !delivery.isComplete() {
            defer { state.pause = min(state.pause * 2, Self.longestPause) }
            return .wait(until: min(now + state.pause, latest))
        }
        return .abort(reset: ending == .reset)
    }

    func serverIsStopping() {
        state.withLock { $0.isStopping = true }
    }

    func closed() {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !wasEnded { onEnd() }
    }

    /// A response that comes too late is dropped without its stream being closed.
    deinit { closed() }
}
