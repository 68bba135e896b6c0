/// Limits the speed of one transfer. Bytes pass after each of its limiters, in order, has granted them. Belongs to the
/// thread of one loop.
struct SpeedGate {
    /// The limiters, from the narrowest to the widest. At the wider ones, all transfers under the first limiter count
    /// as one, since the connections of a download share its part.
    private let limiters: [SpeedLimiter]
    /// The reservations that limiters have granted, in their order.
    private var granted: [TokenBucket.Reservation] = []
    /// The reservation that the transfer waits for.
    private var reservation: TokenBucket.Reservation?
    private var reservationSize = 0
    /// The number of bytes that may pass without another reservation.
    private var credit = 0
    /// The number of changes of the limits at the time of the reservations.
    private var changes: UInt64 = 0

    init(_ limiters: [SpeedLimiter]) {
        self.limiters = limiters
    }

    /// The lowest limit in bytes per second; 0: none.
    var bytesPerSecond: Int64 { limiters.map(\.bytesPerSecond).filter { $0 > 0 }.min() ?? 0 }

    /// Returns the number of bytes that may pass now. 0 means that none may pass before ``due(now:)``.
    mutating func allowance(now: () -> ContinuousClock.Instant) -> Int {
        if credit > 0, changes == limitChanges { return credit }
        guard credit > 0 || reservation != nil || !granted.isEmpty || limiters.contains(where: { $0.isLimited }) else {
            return .max
        }
        let now = now()
        guard due(now: now) == nil else { return 0 }
        return credit > 0 ? credit : .max
    }

    /// Deducts bytes that have passed.
    mutating func passed(_ count: Int) {
        guard credit > 0 else { return }
        credit = max(0, credit - count)
        // The next bytes need new reservations.
        if credit == 0 { granted.removeAll(keepingCapacity: true) }
    }

    /// Takes the reservations that are due. Returns the time of the next attempt; nil: bytes may pass now.
    ///
    /// After a change of a limit, earlier reservations are returned and made anew in the size for that limit.
    mutating func due(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        // A limit may change between two steps; then the steps are repeated. After 8 repetitions, the next attempt
        // follows soon.
        for _ in 0..<8 {
            let current = limitChanges
            if changes != current {
                release(now: now)
                changes = current
            }
            if credit > 0 { return nil }
            if granted.isEmpty, reservation == nil {
                let sizes = limiters.filter { $0.isLimited }.map(\.reservationSize)
                guard let smallest = sizes.min() else { return nil }
                reservationSize = max(1, smallest / (limiters.first?.transferCount ?? 1))
            }
            switch pass(now: now) {
            case .waits(let until): return until
            case .open:
                credit = reservationSize
                return nil
            case .void: continue
            }
        }
        return now + .milliseconds(1)
    }

    private enum Passage {
        case open
        case waits(until: ContinuousClock.Instant)
        /// A limit has changed, so the reservations are void.
        case void
    }

    private mutating func pass(now: ContinuousClock.Instant) -> Passage {
        while granted.count < limiters.count {
            let limiter = limiters[granted.count]
            let reservation = self.reservation ?? limiter.reserve(reservationSize, now: now)
            self.reservation = reservation
            if let until = limiter.due(reservation, now: now) { return .waits(until: until) }
            guard limiter.take(reservation, now: now) else { return .void }
            self.reservation = nil
            granted.append(reservation)
        }
        return .open
    }

    /// The number of changes of all limits so far.
    private var limitChanges: UInt64 { limiters.reduce(0) { $0 &+ $1.changes } }

    func open(for loop: TransferLoop?) {
        for limiter in limiters { limiter.enter(loop) }
    }

    /// Ends the use of the limiters, and returns reserved bytes that were not used.
    mutating func close(now: ContinuousClock.Instant) {
        release(now: now)
        for limiter in limiters { limiter.leave() }
    }

    private mutating func release(now: ContinuousClock.Instant) {
        let isOpen = granted.count == limiters.count
        for (limiter, reservation) in zip(limiters, granted) {
            limiter.release(min(reservation.count, isOpen ? credit : reservationSize), of: reservation, now: now)
        }
        if let reservation, granted.count < limiters.count {
            limiters[granted.count].release(reservation.count, of: reservation, now: now)
        }
        granted.removeAll(keepingCapacity: true)
        (reservation, credit) = (nil, 0)
    }
}
