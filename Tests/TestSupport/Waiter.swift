import Dispatch
import Synchronization

/// A value that tests wait for: threads change it, and a test awaits a condition on it.
///
///     let bytes = Waiter(0)
///     // in a callback, on any thread:  bytes.update { $0 += count }
///     try await bytes.wait { $0 >= 1000 }
///
/// Nothing polls or sleeps: each change checks the awaited conditions. Only the limit is a timer.
public final class Waiter<Value: Sendable>: Sendable {
    private struct Wait {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value?, Never>
    }

    private struct State {
        var value: Value
        var waits: [Int: Wait] = [:]
        var nextWait = 0
    }

    private let state: Mutex<State>

    /// Creates a waiter with this value.
    public init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    /// The current value.
    public var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the tests whose condition now holds. The closure runs under a lock and must not
    /// use this waiter.
    @discardableResult
    public func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, value, met) = state.withLock { state in
            let result = change(&state.value)
            var met: [Wait] = []
            for (number, wait) in state.waits where wait.condition(state.value) {
                met.append(wait)
                state.waits[number] = nil
            }
            return (result, state.value, met)
        }
        for wait in met { wait.continuation.resume(returning: value) }
        return result
    }

    /// Waits until the condition holds, and returns the value for which it did. Throws ``WaitTimedOut`` after `limit`.
    @discardableResult
    public func wait(
        within limit: Duration = .seconds(90), until condition: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let found = await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let (value, number) = state.withLock { state -> (Value?, Int) in
                if condition(state.value) { return (state.value, 0) }
                state.nextWait += 1
                state.waits[state.nextWait] = Wait(condition: condition, continuation: continuation)
                return (nil, state.nextWait)
            }
            if let value { return continuation.resume(returning: value) }
            let seconds = limit / .seconds(1)
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.expire(number) }
        }
        guard let found else { throw WaitTimedOut(limit: limit, value: String(describing: value)) }
        return found
    }

    private func expire(_ number: Int) {
        let wait = state.withLock { $0.waits.removeValue(forKey: number) }
        wait?.continuation.resume(returning: nil)
    }
}

/// A condition did not become true in time.
public struct WaitTimedOut: Error, CustomStringConvertible {
    /// The time waited.
    public let limit: Duration
    /// The value at the end.
    public let value: String

    /// The text with both.
    public var description: String { "waited for \(limit) in vain; the value is \(value)" }
}
