internal import DownloadCore

/// The queued downloads for which the disk has no room, or whose folders have a file system of their own that has none
/// or does not work. They enter the queue again once that has passed. Pure.
struct RoomWaits: Sendable, Equatable {
    /// A folder of finished files, and the free bytes that a download needs there; 0: any.
    struct FolderNeed: Hashable {
        let folder: String
        let bytes: Int64
    }

    /// The next look at the disks.
    struct Look: Equatable {
        /// Whether to flush the file system before. Its space of removed files is free then.
        var settles = true
        /// The folders to examine.
        var folders: Set<FolderNeed> = []
    }

    private struct Need: Equatable {
        /// The free bytes that the download needs, at least 1.
        let bytes: Int64
        /// The number of looks at the disk that have to come first.
        var looks: Int
        /// The folder that must be usable; `nil`: the bytes are needed on the file system of part files.
        var folder: FolderNeed?
    }

    private var needs: [RecordID: Need] = [:]
    /// The number of looks at the disk before which the file system is asked to free the space of removed files.
    private var settlesLeft = 0

    /// Whether a task watches the free disk space.
    var isWatched = false
    /// Whether the queue waits for descriptors until the next look.
    var lacksDescriptors = false

    var isEmpty: Bool { needs.isEmpty }
    /// The downloads that wait.
    var ids: Set<RecordID> { Set(needs.keys) }

    /// Adds a download that needs this many free bytes; 0 or 1: any room, not before the second look, because the file
    /// system may have refused bytes although it counts free ones, or descriptors were missing.
    /// - Parameter folder: The folder that must be usable and have the bytes; empty: none.
    mutating func add(_ id: RecordID, needing bytes: Int64, in folder: String = "") {
        let need = folder.isEmpty ? nil : FolderNeed(folder: folder, bytes: bytes)
        needs[id] = Need(bytes: max(bytes, 1), looks: bytes <= 1 || need != nil ? 1 : 0, folder: need)
        noteRemoval()
    }

    /// Notes that files have been removed, or may have been just before. Their space is free once their last descriptors
    /// are closed, and on btrfs after a flush.
    mutating func noteRemoval() { settlesLeft = 3 }

    /// Prepares the next look at the disks.
    mutating func nextLook() -> Look {
        defer { settlesLeft = max(settlesLeft - 1, 0) }
        return Look(settles: settlesLeft > 0, folders: Set(needs.values.compactMap(\.folder)))
    }

    /// Removes a download that has left the queue.
    mutating func remove(_ id: RecordID) {
        if !needs.isEmpty { needs[id] = nil }
    }

    /// Removes the downloads for which there is room together. A larger one does not delay those behind it.
    /// - Parameters:
    ///   - room: The bytes that may be written; `nil`: unknown, so that only an attempt shows it.
    ///   - usable: The folders that were found to be usable.
    ///   - order: Whether the first of two downloads precedes the second in the queue.
    /// - Returns: These downloads, in that order.
    mutating func take(
        room: Int128?, usable: Set<FolderNeed> = [], by order: (RecordID, RecordID) -> Bool
    ) -> [RecordID] {
        var left = room ?? .max
        let taken = needs.keys.sorted(by: order).filter { id in
            guard let need = needs[id], need.looks == 0 else { return false }
            if let folder = need.folder { return usable.contains(folder) }
            guard need.bytes <= left else { return false }
            left -= Int128(need.bytes)
            return true
        }
        for id in needs.keys { needs[id]?.looks = 0 }
        for id in taken { needs[id] = nil }
        return taken
    }
}
