internal import Dispatch
internal import Glibc
internal import Threading

/// Runs work that keeps a processor busy, or waits for a disk, away from the threads that receive; as many at once as there are
/// processors.
final class HashPool: Sendable {
    /// The one that all downloads share.
    static let shared = HashPool(width: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var running = 0
    }

    private let width: Int
    private let queue = DispatchQueue(label: "pawl.hashing", attributes: .concurrent)
    private let state = Locked(State())

    init(width: Int) {
        self.width = width
    }

    /// Runs the work as soon as others have left room for it.
    func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            guard state.running < width else { return false }
            state.running += 1
            return true
        }
        if starts { queue.async { self.drain() } }
    }

    private func drain() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
