/// Where a download stands in the one order that decides who starts next: higher priorities first, first in first out within one.
struct QueueRank: Comparable, Hashable, Sendable {
    var priority: Int
    /// As what it has arrived: its identity, which tells when it was created; another, which belongs to no download, if it was moved.
    var arrival: DownloadID

    static func < (left: QueueRank, right: QueueRank) -> Bool {
        left.priority == right.priority ? left.arrival < right.arrival : left.priority > right.priority
    }
}

extension Download {
    /// Where it stands in the order of those that start, or would.
    var rank: QueueRank { QueueRank(priority: priority, arrival: arrival ?? id) }

    /// Whether it has a place in the queue that can be told and changed.
    var isInQueue: Bool {
        switch state {
        case .queued, .paused: true
        case .downloading, .retrying, .completed, .failed, .cancelled: false
        }
    }
}

/// To which place of the queue a download is moved; what lies beyond its ends means the end.
public enum QueueMove: Sendable, Equatable {
    /// So many places behind the first one.
    case start(Int)
    /// So many places on from where it is; a negative number is towards the first one.
    case current(Int)
    /// So many places on from behind the last one: 0, or a negative number.
    case end(Int)
}
