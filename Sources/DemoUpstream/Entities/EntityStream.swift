package import HTTPServer
internal import System

/// The stream of a range of an entity: made as the connection takes it, at its pace.
package final class EntityStream: BodyStream {
    private struct State {
        var left: Range<Int64>
        var pace: Pace
        var isStopping = false
    }

    private let content: any EntityContent
    private let start: Int64
    private let state: Locked<State>
    private let onEnd: @Sendable (Int64) -> Void

    /// - Parameter onEnd: Called at the end with the number of bytes handed to the connection.
    package init(
        _ content: any EntityContent, _ range: Range<Int64>, pace: Pace, onEnd: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        self.content = content
        self.onEnd = onEnd
        start = range.lowerBound
        state = Locked(State(left: range, pace: pace))
    }

    package func opened(_ waker: StreamWaker) {}

    package func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        state.withLock { state in
            if state.isStopping { return .abort(reset: false) }
            if state.left.isEmpty { return .end }
            switch state.pace.allowance(for: min(Int64(max(0, limit)), Int64(state.left.count)), now: now) {
            case .wait(let until): return .wait(until: until)
            case .send(let count):
                let part = state.left.prefix(Int(count))
                content.append(part, to: &buffer)
                state.left = part.upperBound..<state.left.upperBound
                state.pace.spend(count)
                return state.left.isEmpty ? .end : .more
            }
        }
    }

    package func serverIsStopping() {
        state.withLock { $0.isStopping = true }
    }

    package func closed() { onEnd(state.withLock { $0.left.lowerBound } - start) }
}
