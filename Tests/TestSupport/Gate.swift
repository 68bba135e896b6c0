import Synchronization

/// Something that happens once: closed at first, then open for good. Any thread may open it.
///
/// Tests use gates in both directions: to hold a ``ScriptedOrigin`` back until the test says so, and to learn that it got somewhere.
public final class Gate: Sendable {
    private let opened = Waiter(false)
    private let followers = Mutex<[@Sendable () -> Void]>([])

    /// A closed gate.
    public init() {}

    /// Whether it has been opened.
    public var isOpen: Bool { opened.value }

    /// Opens it. Opening it again does nothing.
    public func open() {
        opened.update { $0 = true }
        let bodies = followers.withLock { followers in
            defer { followers.removeAll() }
            return followers
        }
        for body in bodies { body() }
    }

    /// Waits until it is open. Throws ``WaitTimedOut`` after `limit`.
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
