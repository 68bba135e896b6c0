/// Decides when the received bytes of a transfer are synced and recorded.
///
/// Frequent checkpoints reduce the loss in a crash, but must not cost more than they save.
struct CheckpointPolicy {
    /// The number of transfers that may each be synced in every interval.
    ///
    /// With more transfers, each one is synced less often. A sync occupies the disk for a while,
    /// however few its bytes are.
    static let transfersPerInterval = 100
    /// The number of unsynced bytes from which a checkpoint is due after one interval, however
    /// many transfers there are.
    static let worthwhile: Int64 = 1 << 20

    /// The minimum time between two checkpoints of one transfer.
    let interval: Duration

    init(interval: Duration) {
        self.interval = interval
    }

    /// Whether a checkpoint is due.
    /// - Parameters:
    ///   - elapsed: The time since the last checkpoint, or since the transfer began.
    ///   - running: The number of transfers.
    ///   - unsynced: Returns the bytes received since the last checkpoint. It is called only if they matter.
    func isDue(after elapsed: Duration, running: Int, unsynced: () -> Int64) -> Bool {
        guard elapsed >= interval else { return false }
        let stretch = max(1, (running + Self.transfersPerInterval - 1) / Self.transfersPerInterval)
        return elapsed >= interval * stretch || unsynced() >= Self.worthwhile
    }
}
