import Synchronization

/// One of a few turns that tests with a whole service take: were all of them to begin at once, what each does would wait for what all
/// the others do, and time limits of the service would end what works.
public final class Turn: Sendable {
    private struct State {
        var free = 24
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Mutex(State())

    private init() {}

    /// Waits for a turn, which lasts as long as the value.
    public static func take() async -> Turn {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiters.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        return Turn()
    }

    deinit {
        let next = Self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiters.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.resume()
    }
}
