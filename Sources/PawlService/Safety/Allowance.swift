/// A number of requests or wrong tokens that one client may send: a burst at once, and a rate in the long run. It
/// refills steadily.
struct Allowance: Sendable, Equatable {
    /// The size of an allowance.
    struct Size: Sendable, Equatable {
        /// The maximum at once, 1 or more.
        let burst: Double
        /// The number refilled in a second, more than 0.
        let perSecond: Double
    }

    private var level: Double
    private var at: ContinuousClock.Instant

    /// Creates a full allowance.
    init(_ size: Size, now: ContinuousClock.Instant) {
        level = size.burst
        at = now
    }

    /// Takes one; returns the delay until one is available, or `nil` if it was taken.
    mutating func take(_ size: Size, now: ContinuousClock.Instant) -> Duration? {
        if let wait = wait(size, now: now) { return wait }
        level = level(size, now: now) - 1
        at = now
        return nil
    }

    /// The delay until one is available; `nil` if one is available now.
    func wait(_ size: Size, now: ContinuousClock.Instant) -> Duration? {
        let level = level(size, now: now)
        return level >= 1 ? nil : .seconds((1 - level) / size.perSecond)
    }

    /// Whether the allowance is full.
    func isFull(_ size: Size, now: ContinuousClock.Instant) -> Bool {
        level(size, now: now) >= size.burst
    }

    private func level(_ size: Size, now: ContinuousClock.Instant) -> Double {
        min(size.burst, level + max(0, (now - at) / .seconds(1)) * size.perSecond)
    }
}
