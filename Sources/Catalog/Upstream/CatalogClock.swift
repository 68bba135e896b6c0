/// A clock, injected so that tests need not wait.
public protocol CatalogClock: Sendable {
    /// The current time.
    var now: ContinuousClock.Instant { get }
    /// Waits until the deadline; throws if the task is cancelled.
    func sleep(until deadline: ContinuousClock.Instant) async throws
}

/// The clock of the system.
public struct SystemClock: CatalogClock {
    /// Creates the clock.
    public init() {}

    /// The current time.
    public var now: ContinuousClock.Instant { .now }

    /// Waits until the deadline; throws if the task is cancelled.
    public func sleep(until deadline: ContinuousClock.Instant) async throws {
        try await ContinuousClock().sleep(until: deadline)
    }
}
