/// Decides when what a transfer has brought is synced and recorded, so that a crash costs little and syncing does not cost more.
struct CheckpointPolicy {
    /// So many transfers may each be synced in every interval. With more of them each has its turn less often: a sync takes the disk
    /// a while, however few bytes it is for.
    static let transfersPerInterval = 100
    /// Bytes that are not left unsynced for longer than the interval, however many transfers there are.
    static let worthwhile: Int64 = 1 << 20

    /// The least time between two checkpoints of one transfer.
    let interval: Duration

    /// Whether one is due.
    /// - Parameters:
    ///   - elapsed: since the last one, or since the transfer began.
    ///   - running: how many transfers there are.
    ///   - unsynced: the bytes that have come since; asked for only if it matters.
    func isDue(after elapsed: Duration, running: Int, unsynced: () -> Int64) -> Bool {
        guard elapsed >= interval else { return false }
        let stretch = max(1, (running + Self.transfersPerInterval - 1) / Self.transfersPerInterval)
        return elapsed >= interval * stretch || unsynced() >= Self.worthwhile
    }
}
