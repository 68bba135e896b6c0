internal import Synchronization
internal import System

/// A limit in bytes per second that any number of transfers share, each a fair part of it. Any thread may change it, at any time,
/// and the new limit holds at once for transfers that run.
///
/// A transfer is held back by not reading from its connection, so the origin is slowed down by TCP itself. What the system
/// buffers meanwhile, some hundred KiB for a connection, has left the origin but does not count before it is taken.
public final class SpeedLimiter: Sendable {
    private struct State {
        var bucket: TokenBucket
        var transfers = 0
        /// Whom to tell of a new limit.
        var loops: [TransferLoop] = []
    }

    private let state: Locked<State>
    /// Whether there is a limit: looked at for every piece of a body.
    private let limited: Atomic<Bool>

    /// - Parameter bytesPerSecond: 0 is no limit.
    public init(bytesPerSecond: Int64 = 0) {
        state = Locked(State(bucket: TokenBucket(bytesPerSecond: bytesPerSecond, now: .now)))
        limited = Atomic(bytesPerSecond > 0)
    }

    /// The limit in bytes per second; 0 is none.
    public var bytesPerSecond: Int64 { state.withLock { $0.bucket.rate } }

    /// Changes the limit; 0 lifts it.
    public func setLimit(bytesPerSecond: Int64) {
        let loops = state.withLock { state -> [TransferLoop] in
            guard state.bucket.rate != max(0, bytesPerSecond) else { return [] }
            state.bucket.setRate(bytesPerSecond, now: .now)
            limited.store(bytesPerSecond > 0, ordering: .relaxed)
            return state.loops
        }
        for loop in loops { loop.post(.limitsChanged) }
    }
}

// MARK: - For transfers

extension SpeedLimiter {
    var isLimited: Bool { limited.load(ordering: .relaxed) }

    /// How many bytes to reserve at a time.
    var turnSize: Int { state.withLock { $0.bucket.turnSize } }

    /// How many transfers run under this limit, at least 1.
    var transferCount: Int { state.withLock { max(1, $0.transfers) } }

    func reserve(_ count: Int, now: ContinuousClock.Instant) -> TokenBucket.Turn {
        state.withLock { $0.bucket.reserve(count, now: now) }
    }

    /// When the bytes of a turn may be had; nil: now.
    func due(_ turn: TokenBucket.Turn, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.bucket.due(turn, now: now) }
    }

    func giveBack(_ count: Int, now: ContinuousClock.Instant) {
        state.withLock { $0.bucket.giveBack(count, now: now) }
    }

    /// A transfer of the loop begins.
    func enter(_ loop: TransferLoop) {
        state.withLock { state in
            state.transfers += 1
            if !state.loops.contains(where: { $0 === loop }) { state.loops.append(loop) }
        }
    }

    /// A transfer has ended.
    func leave() {
        state.withLock { $0.transfers -= 1 }
    }
}
