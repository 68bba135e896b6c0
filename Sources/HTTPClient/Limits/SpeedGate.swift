/// Lets one transfer's bytes pass as its limiters allow: each in turn has to grant a turn. Belongs to one loop's thread.
struct SpeedGate {
    /// From the narrowest to the widest. The transfers under the first one count as one at the others: connections of one
    /// download share its part.
    private let limiters: [SpeedLimiter]
    /// How many limiters have granted the turn that is being waited for.
    private var granted = 0
    private var turn: TokenBucket.Turn?
    private var turnSize = 0
    /// Bytes that may pass without asking again.
    private var credit = 0

    init(_ limiters: [SpeedLimiter]) {
        self.limiters = limiters
    }

    /// The least limit in bytes per second; 0: none.
    var bytesPerSecond: Int64 { limiters.map(\.bytesPerSecond).filter { $0 > 0 }.min() ?? 0 }

    /// How many bytes may pass now; none: not before ``due(now:)``.
    mutating func allowance(now: () -> ContinuousClock.Instant) -> Int {
        if credit > 0 { return credit }
        guard granted > 0 || turn != nil || limiters.contains(where: { $0.isLimited }) else { return .max }
        let now = now()
        if granted == 0, turn == nil {
            let smallest = limiters.filter { $0.isLimited }.map(\.turnSize).min() ?? TokenBucket.largestTurn
            turnSize = max(1, smallest / (limiters.first?.transferCount ?? 1))
        }
        while granted < limiters.count {
            let limiter = limiters[granted]
            let turn = self.turn ?? limiter.reserve(turnSize, now: now)
            self.turn = turn
            guard limiter.due(turn, now: now) == nil else { return 0 }
            self.turn = nil
            granted += 1
        }
        granted = 0
        credit = turnSize
        return credit
    }

    /// Notes that bytes have passed.
    mutating func passed(_ count: Int) {
        credit = max(0, credit - count)
    }

    /// When to ask again; nil: now.
    func due(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let turn, granted < limiters.count else { return nil }
        return limiters[granted].due(turn, now: now)
    }

    func open(for loop: TransferLoop) {
        for limiter in limiters { limiter.enter(loop) }
    }

    /// Gives back what was reserved and not used.
    mutating func close(now: ContinuousClock.Instant) {
        for (index, limiter) in limiters.enumerated() {
            if index < granted || credit > 0 {
                limiter.giveBack(index < granted ? turnSize : credit, now: now)
            } else if index == granted, let turn {
                limiter.giveBack(turn.count, now: now)
            }
            limiter.leave()
        }
        (granted, turn, credit) = (0, nil, 0)
    }
}
