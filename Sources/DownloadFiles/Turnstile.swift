internal import System

/// Lets a limited number of tasks pass at a time. The others wait in order of arrival.
final class Turnstile: Sendable {
    private struct State {
        package var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    /// Creates a turnstile.
    /// - Parameter places: The maximum number of tasks that pass at a time.
    init(places: Int) {
        state = Locked(State(free: places))
    }

    /// Waits until the task may pass. Cancelling the task does not end the wait.
    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Lets the task pass that has waited longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
