import HTTPServer
import System

/// A stream that is aborted as a fault requires, and reports its bytes and its end.
final class FaultyStream: BodyStream {
    private struct State {
        var sent: Int64 = 0
        /// Whether the stream has no more bytes.
        var isComplete = false
        var isStopping = false
        /// The latest time at which a body that is to be aborted ends.
        var breaksOff: ContinuousClock.Instant?
        /// The pause before the next check whether the client has received everything.
        var pause = FaultyStream.shortestPause
        var isEnded = false
        /// The largest `limit` so far: a smaller one means that bytes are still unsent.
        var largestRoom = 0
    }

    private let state = Locked(State())
    private let stream: any BodyStream
    private let hasLength: Bool
    private let cut: BodyCut?
    private let delivery: Delivery
    /// Called with the number of bytes handed to the connection.
    private let onSend: @Sendable (Int) -> Void
    private let onEnd: @Sendable () -> Void

    /// The first pause between checks whether the client has received the bytes before the abort. Each pause doubles,
    /// so that a client that does not read does not keep the only event loop busy.
    private static let shortestPause: Duration = .milliseconds(5)
    /// The maximum pause between checks.
    private static let longestPause: Duration = .milliseconds(160)
    /// The time after which a body is aborted although the client has not received everything.
    private static let patience: Duration = .seconds(40)
    /// The time after which a stalled body's connection is closed: longer than clients wait.
    private static let longestStall: Duration = .seconds(120)

    /// - Parameter hasLength: Whether the response has a Content-Length.
    init(
        _ stream: any BodyStream, hasLength: Bool, cut: BodyCut?, delivery: Delivery,
        onSend: @escaping @Sendable (Int) -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        self.stream = stream
        self.hasLength = hasLength
        self.cut = cut
        self.delivery = delivery
        self.onSend = onSend
        self.onEnd = onEnd
    }

    func opened(_ waker: StreamWaker) { stream.opened(waker) }

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            if state.isStopping { return .abort(reset: false) }
            state.largestRoom = max(state.largestRoom, limit)
            var room = limit
            if let cut {
                if state.sent >= cut.after || state.isComplete {
                    // Chunks are made in a buffer of their own, so only the limit shows unsent bytes. For a body with a
                    // length, the limit is also bounded by the remaining bytes.
                    let isFlushed = buffer.isEmpty && (hasLength || limit == state.largestRoom)
                    return breakOff(cut.ending, &state, isFlushed: isFlushed, now: now)
                }
                room = Int(min(Int64(limit), cut.after - state.sent))
            }
            let before = buffer.count
            let step = stream.next(into: &buffer, limit: room, now: now)
            state.sent += Int64(buffer.count - before)
            onSend(buffer.count - before)
            guard case .end = step, cut != nil else { return step }
            state.isComplete = true
            return .more
        }
    }

    /// Aborts once the client has received all earlier bytes, since an abort drops those that the server and the kernel
    /// still hold. Waits at most `patience` for a client that does not read.
    private func breakOff(
        _ ending: BodyCut.Ending, _ state: inout State, isFlushed: Bool, now: ContinuousClock.Instant
    ) -> StreamStep {
        if ending == .stall {
            // A closed connection is only detected by sending, so a stalled one must not be kept for ever.
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
        if wasEnded { return }
        stream.closed()
        onEnd()
    }

    /// A response that is dropped before it is sent does not close its stream.
    deinit { closed() }
}
