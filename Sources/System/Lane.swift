internal import Synchronization

/// Limits the number of tasks that do expensive work at a time. Further tasks wait in the order of their arrival.
public final class Lane: Sendable {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Bool, Never>
        /// Ends the wait at its time limit.
        let timer: Task<Void, Never>

        func resume(isAdmitted: Bool) {
            timer.cancel()
            continuation.resume(returning: isAdmitted)
        }
    }

    private struct State {
        /// The number of further tasks that can be admitted.
        var free: Int
        var lastNumber: UInt64 = 0
        var waiting: [Waiter] = []
    }

    private let state: Locked<State>
    private let maximumWaiting: Int

    /// Creates a lane.
    /// - Parameters:
    ///   - width: The maximum number of tasks admitted at a time.
    ///   - maximumWaiting: The maximum number of tasks that wait. Further tasks are refused immediately.
    public init(width: Int, maximumWaiting: Int = 1_024) {
        state = Locked(State(free: width))
        self.maximumWaiting = maximumWaiting
    }

    /// Waits for admission, and then does the work.
    /// - Parameter limit: The maximum time of the wait.
    /// - Returns: The result of the work. `nil` if the task was refused, not admitted in time, or cancelled while it
    ///   waited.
    public func run<Value: Sendable, Failure: Error>(
        within limit: Duration, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard await enter(within: limit) else { return nil }
        defer { leave() }
        return try await work()
    }

    /// The number of tasks that wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func enter(within limit: Duration) async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Bool? = state.withLock { state in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    if state.waiting.count >= maximumWaiting || Task.isCancelled { return false }
                    let timer = Task {
                        do { try await Task.sleep(for: limit) } catch { return }
                        self.abandon(number)
                    }
                    state.waiting.append(Waiter(number: number, continuation: continuation, timer: timer))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            abandon(number)
        }
    }

    private func abandon(_ number: UInt64) {
        let waiter: Waiter? = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiter?.resume(isAdmitted: false)
    }

    private func leave() {
        let next: Waiter? = state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume(isAdmitted: true)
    }
}
