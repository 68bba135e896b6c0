/// An allowance that refills steadily: so many at once, so many a second in the long run.
struct TokenBucket: Sendable, Equatable {
    /// How an allowance is sized.
    struct Size: Sendable, Equatable {
        /// The most at once, 1 or more.
        let burst: Double
        /// What comes back in a second, more than 0.
        let perSecond: Double
    }

    private var level: Double
    private var at: ContinuousClock.Instant

    /// A full one.
    init(_ size: Size, now: ContinuousClock.Instant) {
        level = size.burst
        at = now
    }

    /// Takes one, or returns how long it takes until there is one.
    mutating func take(_ size: Size, now: ContinuousClock.Instant) -> Duration? {
        if let wait = wait(size, now: now) { return wait }
        level = level(size, now: now) - 1
        at = now
        return nil
    }

    /// How long it takes until there is one; `nil` if there is.
    func wait(_ size: Size, now: ContinuousClock.Instant) -> Duration? {
        let level = level(size, now: now)
        return level >= 1 ? nil : .seconds((1 - level) / size.perSecond)
    }

    /// Whether it is like a new one.
    func isFull(_ size: Size, now: ContinuousClock.Instant) -> Bool {
        level(size, now: now) >= size.burst
    }

    private func level(_ size: Size, now: ContinuousClock.Instant) -> Double {
        min(size.burst, level + max(0, (now - at) / .seconds(1)) * size.perSecond)
    }
}
