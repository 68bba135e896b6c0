/// Limits the number of tasks that do expensive work at a time. Further tasks wait in the order of their arrival.
public final class Lane: Sendable {
    private struct State {
        /// The number of further tasks that can be admitted.
        var free: Int
        /// The admissions of the tasks that wait.
        var waiting: [Outcome<Bool>] = []
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
    /// - Parameter limit: The maximum time of the wait; `nil`: none.
    /// - Returns: The result of the work. `nil` if the task was refused, not admitted in time, or cancelled while it
    ///   waited.
    public func run<Value: Sendable, Failure: Error>(
        within limit: Duration?, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard await enter(within: limit) else { return nil }
        defer { leave() }
        return try await work()
    }

    /// The number of tasks that wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func enter(within limit: Duration?) async -> Bool {
        let admission = Outcome<Bool>()
        let known: Bool? = state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return true
            }
            if state.waiting.count >= maximumWaiting { return false }
            state.waiting.append(admission)
            return nil
        }
        if let known { return known }
        let isAdmitted = await withTaskCancellationHandler {
            await admission.value(within: limit, orSetting: false)
        } onCancel: {
            admission.set(false)
        }
        if !isAdmitted { state.withLock { $0.waiting.removeAll { $0 === admission } } }
        return isAdmitted
    }

    private func leave() {
        while true {
            let next: Outcome<Bool>? = state.withLock { state in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.free += 1
                return nil
            }
            // A task whose wait has ended is passed over.
            if next?.set(true) ?? true { return }
        }
    }
}
