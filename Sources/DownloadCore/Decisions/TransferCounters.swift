internal import Synchronization

/// The values of a running transfer that any thread may read at any time.
package final class TransferCounters: Sendable {
    private let receivedBytes: Atomic<Int64>
    private let speed = Atomic<Int64>(0)
    private let stalledFlag = Atomic<Bool>(false)
    private let openConnections = Atomic<Int>(1)
    /// The written ranges of a transfer of this service.
    ///
    /// They are needed beyond the end of the transfer, until the file has its name.
    private let progress: (any CoverageSource)?

    /// Creates counters.
    /// - Parameters:
    ///   - received: The number of bytes in the part file.
    ///   - progress: The transfer's ranges; `nil` for a transfer of another replica.
    package init(received: Int64, progress: (any CoverageSource)? = nil) {
        receivedBytes = Atomic(received)
        self.progress = progress
    }

    /// The number of bytes in the part file.
    package var received: Int64 {
        get { receivedBytes.load(ordering: .relaxed) }
        set { receivedBytes.store(newValue, ordering: .relaxed) }
    }

    /// The smoothed speed, in bytes per second.
    package var bytesPerSecond: Int64 {
        get { speed.load(ordering: .relaxed) }
        set { speed.store(newValue, ordering: .relaxed) }
    }

    /// Whether bytes have stopped arriving.
    package var isStalled: Bool {
        get { stalledFlag.load(ordering: .relaxed) }
        set { stalledFlag.store(newValue, ordering: .relaxed) }
    }

    /// The number of connections that are open or being opened.
    package var connections: Int {
        get { openConnections.load(ordering: .relaxed) }
        set { openConnections.store(newValue, ordering: .relaxed) }
    }

    /// The ranges of the part file that are written; `nil` if they are not known here.
    package var written: Coverage? { progress?.written }

    /// Resets the speed and the stall after the end of the transfer.
    package func end() {
        bytesPerSecond = 0
        isStalled = false
    }
}

/// The written bytes of a running transfer, for readers on any thread.
package protocol CoverageSource: Sendable {
    /// The bytes in the part file that belong to the version of the file that is being fetched.
    var written: Coverage { get }
}
