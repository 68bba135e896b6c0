/// The time, and waiting for it: passed in, so that nothing has to sleep to see five minutes pass.
public protocol CatalogClock: Sendable {
    /// The present moment.
    var now: ContinuousClock.Instant { get }
    /// Waits until then; throws if the task is cancelled.
    func sleep(until deadline: ContinuousClock.Instant) async throws
}

/// The clock of the system.
public struct SystemClock: CatalogClock {
    /// The clock.
    public init() {}

    /// The present moment.
    public var now: ContinuousClock.Instant { .now }

    /// Waits until then; throws if the task is cancelled.
    public func sleep(until deadline: ContinuousClock.Instant) async throws {
        try await ContinuousClock().sleep(until: deadline)
    }
}
