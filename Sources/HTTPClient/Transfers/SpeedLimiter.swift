internal import Synchronization
internal import System

/// A limit in bytes per second that any number of transfers share, in fair parts. Any thread may change it, at any
/// time.
///
/// A new limit applies immediately to running transfers. Their reserved or granted but unused bytes become void, and
/// they make new reservations in the size for the new limit.
///
/// A transfer over the limit does not read from its connection, so that TCP slows the origin down. The system
/// buffers some hundred KiB for each connection. These bytes count only when the transfer reads them.
public final class SpeedLimiter: Sendable {
    private struct State {
        var bucket: TokenBucket
        var transfers = 0
        /// The loops to wake when the limit changes.
        var loops: [TransferLoop] = []
    }

    private let state: Locked<State>
    /// Whether there is a limit, and the number of its changes. They are atomic because they are read for every piece
    /// of a body.
    private let limited: Atomic<Bool>
    private let changeCount = Atomic<UInt64>(0)

    /// Creates a limiter.
    /// - Parameter bytesPerSecond: The limit; 0: none.
    public init(bytesPerSecond: Int64 = 0) {
        state = Locked(State(bucket: TokenBucket(bytesPerSecond: bytesPerSecond, now: .now)))
        limited = Atomic(bytesPerSecond > 0)
    }

    /// The limit in bytes per second; 0: none.
    public var bytesPerSecond: Int64 { state.withLock { $0.bucket.rate } }

    /// Changes the limit; 0 removes it.
    public func setLimit(bytesPerSecond: Int64) { setLimit(bytesPerSecond: bytesPerSecond, now: .now) }

    func setLimit(bytesPerSecond: Int64, now: ContinuousClock.Instant) {
        let loops = state.withLock { state -> [TransferLoop] in
            guard state.bucket.rate != max(0, bytesPerSecond) else { return [] }
            state.bucket.setRate(bytesPerSecond, now: now)
            limited.store(bytesPerSecond > 0, ordering: .relaxed)
            changeCount.store(state.bucket.changes, ordering: .relaxed)
            return state.loops
        }
        for loop in loops { loop.post(.limitsChanged) }
    }
}

// MARK: - For transfers

extension SpeedLimiter {
    var isLimited: Bool { limited.load(ordering: .relaxed) }

    /// The number of changes of the limit so far. Earlier reservations are void.
    var changes: UInt64 { changeCount.load(ordering: .relaxed) }

    /// The number of bytes of one reservation.
    var reservationSize: Int { state.withLock { $0.bucket.reservationSize } }

    /// The number of transfers under this limit, at least 1.
    var transferCount: Int { state.withLock { max(1, $0.transfers) } }

    func reserve(_ count: Int, now: ContinuousClock.Instant) -> TokenBucket.Reservation {
        state.withLock { $0.bucket.reserve(count, now: now) }
    }

    /// The time at which a reservation can be taken; nil: now.
    func due(_ reservation: TokenBucket.Reservation, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.bucket.due(reservation, now: now) }
    }

    /// Takes the bytes of a reservation; returns false if it is not due, or is void.
    func take(_ reservation: TokenBucket.Reservation, now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.bucket.take(reservation, now: now) }
    }

    /// Returns unused bytes of a reservation.
    func release(_ count: Int, of reservation: TokenBucket.Reservation, now: ContinuousClock.Instant) {
        state.withLock { $0.bucket.release(count, of: reservation, now: now) }
    }

    /// Counts a transfer that begins. Its loop is woken when the limit changes.
    func enter(_ loop: TransferLoop?) {
        state.withLock { state in
            state.transfers += 1
            if let loop, !state.loops.contains(where: { $0 === loop }) { state.loops.append(loop) }
        }
    }

    /// Removes a transfer that has ended from the count.
    func leave() {
        state.withLock { $0.transfers -= 1 }
    }
}
