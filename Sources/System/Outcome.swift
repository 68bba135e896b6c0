/// A value that is set once, by any thread, and the waits for it.
///
/// Inlinable: commits are outcomes, and generic code that is not specialised costs a POST 26,000 instructions.
public final class Outcome<Value: Sendable>: Sendable {
    @usableFromInline let state: Locked<(value: Value?, waiters: [@Sendable (Value) -> Void])>

    /// Creates an outcome whose value is not known yet.
    @inlinable public init() { state = Locked((nil, [])) }

    /// Whether the value is set.
    @inlinable public var isKnown: Bool { state.withLock { $0.value != nil } }

    /// Sets the value. Only the first call has an effect.
    /// - Returns: Whether this call was the first one.
    @inlinable @discardableResult
    public func set(_ value: Value) -> Bool {
        let waiters: [@Sendable (Value) -> Void]? = state.withLock { state in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter(value) }
        return waiters != nil
    }

    /// Calls the body with the value: on the thread that sets it, or immediately if it is known. It must not block.
    @inlinable public func whenDone(_ body: @escaping @Sendable (Value) -> Void) {
        let known = state.withLock { state in
            if state.value == nil { state.waiters.append(body) }
            return state.value
        }
        if let known { body(known) }
    }

    /// Waits for the value. Cancelling the task does not end the wait.
    @inlinable public func value() async -> Value {
        await withCheckedContinuation { waiter in whenDone { waiter.resume(returning: $0) } }
    }

    /// Waits for the value, and sets it at the time limit.
    /// - Parameters:
    ///   - limit: The maximum time of the wait; `nil`: none.
    ///   - late: The value at the time limit.
    @inlinable public func value(within limit: Duration?, orSetting late: Value) async -> Value {
        let timer = limit.map { limit in
            Task {
                try await Task.sleep(for: limit)
                set(late)
            }
        }
        defer { timer?.cancel() }
        return await value()
    }
}
