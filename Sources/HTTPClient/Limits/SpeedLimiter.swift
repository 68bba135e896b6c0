internal import Synchronization
internal import System

/// A limit in bytes per second that any number of transfers share, each a fair part of it. Any thread may change it, at any time.
///
/// A new limit holds at once for transfers that run: amounts that they have reserved, or been granted and not used, are void, and they
/// reserve new ones of the size that the new limit calls for.
///
/// A transfer is held back by not reading from its connection, so the origin is slowed down by TCP itself. What the system
/// buffers meanwhile, some hundred KiB for a connection, has left the origin but does not count before it is taken.
public final class SpeedLimiter: Sendable {
    private struct State {
        var bucket: TokenBucket
        var transfers = 0
        /// The loops to wake when the limit changes.
        var loops: [TransferLoop] = []
    }

    private let state: Locked<State>
    /// Whether there is a limit, and the number of its changes so far: read for every piece of a body.
    private let limited: Atomic<Bool>
    private let changeCount = Atomic<UInt64>(0)

    /// - Parameter bytesPerSecond: 0 is no limit.
    public init(bytesPerSecond: Int64 = 0) {
        state = Locked(State(bucket: TokenBucket(bytesPerSecond: bytesPerSecond, now: .now)))
        limited = Atomic(bytesPerSecond > 0)
    }

    /// The limit in bytes per second; 0 is none.
    public var bytesPerSecond: Int64 { state.withLock { $0.bucket.rate } }

    /// Changes the limit; 0 lifts it.
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

    /// The number of changes of the limit so far. Turns that were reserved before the last one are void.
    var changes: UInt64 { changeCount.load(ordering: .relaxed) }

    /// The number of bytes to reserve at a time.
    var turnSize: Int { state.withLock { $0.bucket.turnSize } }

    /// The number of transfers that run under this limit, at least 1.
    var transferCount: Int { state.withLock { max(1, $0.transfers) } }

    func reserve(_ count: Int, now: ContinuousClock.Instant) -> TokenBucket.Turn {
        state.withLock { $0.bucket.reserve(count, now: now) }
    }

    /// The time at which the bytes of a turn may be had; nil: now.
    func due(_ turn: TokenBucket.Turn, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.bucket.due(turn, now: now) }
    }

    /// Takes the bytes of a turn; false if it is not due, or void.
    func take(_ turn: TokenBucket.Turn, now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.bucket.take(turn, now: now) }
    }

    /// Gives back bytes of a turn that will not be used.
    func giveBack(_ count: Int, of turn: TokenBucket.Turn, now: ContinuousClock.Instant) {
        state.withLock { $0.bucket.giveBack(count, of: turn, now: now) }
    }

    /// Counts a transfer that begins, and wakes its loop when the limit changes.
    func enter(_ loop: TransferLoop?) {
        state.withLock { state in
            state.transfers += 1
            if let loop, !state.loops.contains(where: { $0 === loop }) { state.loops.append(loop) }
        }
    }

    /// Counts a transfer that has ended.
    func leave() {
        state.withLock { $0.transfers -= 1 }
    }
}
