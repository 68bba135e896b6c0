internal import DownloadCore

/// Downloads in the order of their ranks.
struct RankedDownloads: Sendable {
    /// Most are removed in order. A slice does not move the others then.
    private var members: ArraySlice<(id: RecordID, rank: QueueRank)> = []

    init() {}

    var count: Int { members.count }

    /// Returns the download that `offset` others precede.
    subscript(offset: Int) -> (id: RecordID, rank: QueueRank) { members[members.startIndex + offset] }

    /// Returns the number of downloads with a lower rank.
    func count(below rank: QueueRank) -> Int {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].rank < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func insert(_ id: RecordID, _ rank: QueueRank) {
        members.insert((id, rank), at: members.startIndex + count(below: rank))
    }

    /// Removes a download.
    /// - Returns: Whether it was there with this rank.
    @discardableResult
    mutating func remove(_ id: RecordID, _ rank: QueueRank) -> Bool {
        var offset = count(below: rank)
        while offset < count, self[offset].rank == rank {
            if self[offset].id == id {
                if offset == 0 { members.removeFirst() } else { members.remove(at: members.startIndex + offset) }
                return true
            }
            offset += 1
        }
        return false
    }
}
