import Catalog
import Synchronization
import TestSupport

/// A clock that the test advances.
final class TestClock: CatalogClock {
    private struct State {
        var now = ContinuousClock.Instant.now
        var lastSleeper = 0
        var sleepers: [Int: (deadline: ContinuousClock.Instant, continuation: CheckedContinuation<Bool, Never>)] = [:]
    }

    private let state = Mutex(State())
    /// The number of sleepers.
    let sleepers = Waiter(0)

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let number = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let isOver = state.withLock { state in
                    if deadline <= state.now { return true }
                    state.sleepers[number] = (deadline, continuation)
                    return false
                }
                if isOver { return continuation.resume(returning: true) }
                sleepers.update { $0 += 1 }
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
        if !isDue { throw CancellationError() }
    }

    /// Advances the time, and wakes due sleepers.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        sleepers.update { $0 -= due.count }
        for continuation in due { continuation.resume(returning: true) }
    }

    private func wake(_ number: Int) {
        guard let sleeper = state.withLock({ $0.sleepers.removeValue(forKey: number) }) else { return }
        sleepers.update { $0 -= 1 }
        sleeper.continuation.resume(returning: false)
    }
}
