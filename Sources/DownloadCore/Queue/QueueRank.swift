/// The rank of a download, which decides the order of starts: higher priorities first, and first
/// in, first out within one.
public struct QueueRank: Comparable, Hashable, Sendable {
    /// The priority, −10…10.
    public var priority: Int
    /// The arrival: the download's own id, which sorts by creation. A moved download has another id, which belongs to
    /// no download.
    public var arrival: RecordID

    /// Creates a rank.
    @inlinable public init(priority: Int, arrival: RecordID) {
        self.priority = priority
        self.arrival = arrival
    }

    /// Returns whether the left download starts before the right one.
    @inlinable public static func < (left: QueueRank, right: QueueRank) -> Bool {
        left.priority == right.priority ? left.arrival < right.arrival : left.priority > right.priority
    }
}

extension Download {
    /// The rank that the download has in the queue, or would have there.
    @inlinable public var rank: QueueRank { QueueRank(priority: priority, arrival: arrival ?? id) }

    /// Whether the download has a position in the queue.
    @inlinable public var isInQueue: Bool {
        switch state {
        case .queued, .paused: true
        case .downloading, .retrying, .completed, .failed, .cancelled: false
        }
    }
}
