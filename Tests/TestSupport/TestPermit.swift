import Synchronization

/// A permit of a few for tests with a whole service: if all started at once, each would wait for all others, and time
/// limits of the service would end healthy work.
public final class TestPermit: Sendable {
    private struct State {
        var free = 24
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Mutex(State())

    private init() {}

    /// Waits for a permit, which lasts as long as the value.
    public static func acquire() async -> TestPermit {
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
        return TestPermit()
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
