internal import System

/// A replica's question for turns, on its way to the database and back.
final class TurnClaim: Sendable {
    /// How many it wants at most.
    let free: Int
    /// How many downloads may transfer from one host, over all replicas.
    let hostLimit: Int
    private let records = Locked<[DownloadRecord]>([])

    init(free: Int, hostLimit: Int) {
        self.free = free
        self.hostLimit = hostLimit
    }

    /// The downloads that it has got turns of, once the group is committed that it was part of.
    var granted: [DownloadRecord] { records.withLock { $0 } }

    /// Notes what the database has granted.
    func grant(_ granted: [DownloadRecord]) { records.withLock { $0 = granted } }
}
