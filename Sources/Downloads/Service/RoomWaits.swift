internal import DownloadCore

/// The queued downloads for which the disk has no room. They enter the queue again once it has. Pure.
struct RoomWaits: Sendable, Equatable {
    /// The free bytes that each download needs, at least 1.
    private var needs: [DownloadID: Int64] = [:]

    /// Whether a task watches the free disk space.
    var isWatched = false

    var isEmpty: Bool { needs.isEmpty }
    /// The downloads that wait.
    var ids: Set<DownloadID> { Set(needs.keys) }

    /// Adds a download that needs this many free bytes; 0: any room.
    mutating func add(_ id: DownloadID, needing bytes: Int64) { needs[id] = max(bytes, 1) }

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
            guard let bytes = needs[id], bytes <= left else { return false }
            left -= Int128(bytes)
            return true
        }
        for id in taken { needs[id] = nil }
        return taken
    }
}
