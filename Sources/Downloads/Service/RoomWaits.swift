internal import DownloadCore

/// The queued downloads for which the disk has no room. They enter the queue again once it has. Pure.
struct RoomWaits: Sendable, Equatable {
    private struct Need: Equatable {
        /// The free bytes that the download needs, at least 1.
        let bytes: Int64
        /// The number of looks at the disk that have to come first.
        var looks: Int
    }

    private var needs: [DownloadID: Need] = [:]
    /// The number of looks at the disk before which the file system is asked to free the space of removed files.
    private var settlesLeft = 0

    /// Whether a task watches the free disk space.
    var isWatched = false

    var isEmpty: Bool { needs.isEmpty }
    /// The downloads that wait.
    var ids: Set<DownloadID> { Set(needs.keys) }

    /// Adds a download that needs this many free bytes; 0: any room, not before the second look, because the file system
    /// may have refused bytes although it counts free ones.
    mutating func add(_ id: DownloadID, needing bytes: Int64) {
        needs[id] = Need(bytes: max(bytes, 1), looks: bytes == 0 ? 1 : 0)
        noteRemoval()
    }

    /// Notes that files have been removed, or may have been just before. Their space is free once their last descriptors
    /// are closed, and on btrfs after a flush.
    mutating func noteRemoval() { settlesLeft = 3 }

    /// Decides whether the next look at the disk is preceded by a flush of the file system.
    mutating func settles() -> Bool {
        defer { settlesLeft = max(settlesLeft - 1, 0) }
        return settlesLeft > 0
    }

    /// Removes a download that has left the queue.
    mutating func remove(_ id: DownloadID) {
        if !needs.isEmpty { needs[id] = nil }
    }

    /// Removes the downloads for which there is room together. A larger one does not delay those behind it.
    /// - Parameters:
    ///   - room: The bytes that may be written; `nil`: unknown, so that only an attempt shows it.
    ///   - order: Whether the first of two downloads precedes the second in the queue.
    /// - Returns: These downloads, in that order.
    mutating func take(room: Int128?, by order: (DownloadID, DownloadID) -> Bool) -> [DownloadID] {
        var left = room ?? .max
        let taken = needs.keys.sorted(by: order).filter { id in
            guard let need = needs[id], need.looks == 0, need.bytes <= left else { return false }
            left -= Int128(need.bytes)
            return true
        }
        for id in needs.keys { needs[id]?.looks = 0 }
        for id in taken { needs[id] = nil }
        return taken
    }
}
