internal import Synchronization

/// What a running transfer tells without a message: the transfer thread adds, any thread samples.
final class TransferCounters: Sendable {
    private let receivedBytes: Atomic<Int64>
    private let speed = Atomic<Int64>(0)
    private let stalledFlag = Atomic<Bool>(false)
    private let openConnections = Atomic<Int>(1)
    /// The written ranges of a transfer of this service. It outlasts the transfer: until the file has its name, they are what there is.
    private let progress: TransferProgress?

    /// - Parameters:
    ///   - received: bytes already in the part file.
    ///   - progress: the transfer's ranges; nil for a transfer of another replica.
    init(received: Int64, progress: TransferProgress? = nil) {
        receivedBytes = Atomic(received)
        self.progress = progress
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

    /// The ranges of the part file that are written; `nil` if they are not known here.
    var written: Coverage? { progress?.written }

    /// The transfer has ended: nothing comes any more.
    func end() {
        bytesPerSecond = 0
        isStalled = false
    }
}
