import Synchronization

/// An event that happens once: closed at first, then open for good. Any thread may open the gate.
///
/// Tests use gates in both directions: to hold a ``ScriptedOrigin`` back, and to learn of its progress.
public final class Gate: Sendable {
    private let opened = Waiter(false)
    private let followers = Mutex<[@Sendable () -> Void]>([])

    /// A closed gate.
    public init() {}

    /// Whether the gate is open.
    public var isOpen: Bool { opened.value }

    /// Opens the gate. Opening it again has no effect.
    public func open() {
        opened.update { $0 = true }
        let bodies = followers.withLock { followers in
            defer { followers.removeAll() }
            return followers
        }
        for body in bodies { body() }
    }

    /// Waits until the gate is open. Throws ``WaitTimedOut`` after `limit`.
    public func wait(within limit: Duration = .seconds(90)) async throws {
        try await opened.wait(within: limit) { $0 }
    }

    /// Calls the closure once the gate is open: now, or on the thread that opens it.
    public func whenOpen(_ body: @escaping @Sendable () -> Void) {
        let isOpen = followers.withLock { followers in
            if opened.value { return true }
            followers.append(body)
            return false
        }
        if isOpen { body() }
    }
}
