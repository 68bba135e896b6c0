internal import Synchronization
internal import System

/// What a running transfer tells without a message: the transfer thread adds, any thread samples.
final class TransferCounters: Sendable {
    private let receivedBytes: Atomic<Int64>
    private let speed = Atomic<Int64>(0)
    private let stalledFlag = Atomic<Bool>(false)
    private let openConnections = Atomic<Int>(1)

    private struct Source {
        weak var coverage: (any CoverageSource)?
    }

    private let source = Locked(Source())

    /// - Parameter received: bytes already in the part file.
    init(received: Int64) {
        receivedBytes = Atomic(received)
    }

    /// Bytes in the part file, in bytes.
    var received: Int64 {
        get { receivedBytes.load(ordering: .relaxed) }
        set { receivedBytes.store(newValue, ordering: .relaxed) }
    }

    /// Smoothed speed, in bytes per second.
    var bytesPerSecond: Int64 {
        get { speed.load(ordering: .relaxed) }
        set { speed.store(newValue, ordering: .relaxed) }
    }

    /// Whether bytes have stopped arriving.
    var isStalled: Bool {
        get { stalledFlag.load(ordering: .relaxed) }
        set { stalledFlag.store(newValue, ordering: .relaxed) }
    }

    /// Connections that are open or being opened.
    var connections: Int {
        get { openConnections.load(ordering: .relaxed) }
        set { openConnections.store(newValue, ordering: .relaxed) }
    }

    /// Where in the part file the bytes are, asked of the transfer itself; `nil` once there is none.
    var written: Coverage? { source.withLock { $0.coverage }?.written }

    /// The transfer has ended: nothing comes any more.
    func end() {
        bytesPerSecond = 0
        isStalled = false
    }

    /// Names the transfer that knows where the bytes are.
    func ask(_ coverage: any CoverageSource) {
        source.withLock { $0.coverage = coverage }
    }
}
