internal import DownloadCore

/// Decides whether downloads may start, by the disks and the quota. Pure.
///
/// Under a quota, bytes count that no record accounts for. Between two counts on the disk, the gate follows them by the
/// removals and the releases of downloads.
struct StorageGate: Sendable, Equatable {
    /// Whether finished files are on this service's disk. Otherwise they are in object storage, and part files alone count.
    let holdsFinishedFiles: Bool
    /// Whether less disk space is free than must stay free.
    var isDiskLow = false
    /// Whether the downloads directory is away, or is back and is being searched.
    var isVolumeAway: Bool
    /// The reason why no download starts; `nil`: downloads start.
    private(set) var reason: WaitingReason?
    /// The bytes on the disk that no record and no reservation accounts for.
    private(set) var strayBytes: Int128 = 0
    /// Queued downloads that already have bytes. Under a full quota, one of them may still exceed it.
    private(set) var begun: Set<RecordID> = []

    /// The queued downloads for which the disk has no room.
    var roomWaits = RoomWaits()

    init(holdsFinishedFiles: Bool, isVolumeAway: Bool = false) {
        self.holdsFinishedFiles = holdsFinishedFiles
        self.isVolumeAway = isVolumeAway
    }

    /// Determines whether downloads may start.
    /// - Parameters:
    ///   - isAway: Whether the downloads directory was found to be away, even if the service does not know that yet.
    ///   - isQuotaFull: Whether no download without bytes may begin under the quota.
    /// - Returns: Whether the reason has changed.
    mutating func update(isAway: Bool, isQuotaFull: @autoclosure () -> Bool) -> Bool {
        let former = reason
        reason =
            if isVolumeAway || isAway {
                .volume
            } else if isDiskLow {
                .disk
            } else if isQuotaFull() {
                .quota
            } else {
                nil
            }
        return reason != former
    }

    // MARK: - Bytes without a record

    /// Notes a count on the disk.
    /// - Parameters:
    ///   - finished: The bytes of all finished files.
    ///   - recorded: The bytes of finished files in records.
    ///   - unreserved: The bytes of downloads without a reservation.
    mutating func noteCount(finished: Int128, recorded: Int128, unreserved: @autoclosure () -> Int128) {
        strayBytes = holdsFinishedFiles ? max(finished - recorded, 0) : unreserved()
    }

    /// Notes the removal of a record with this number of bytes in a finished file. A file that stays is stray. A removed
    /// one was subtracted before.
    mutating func noteRemovedRecord(_ bytes: Int64) {
        if holdsFinishedFiles { strayBytes += Int128(bytes) }
    }

    /// Notes the removal of a finished file, whose record is removed afterwards.
    mutating func noteRemovedFile(_ bytes: Int64) {
        if holdsFinishedFiles { strayBytes -= Int128(bytes) }
    }

    /// Notes the end of the reservation of a download with this number of bytes.
    mutating func noteEndedReservation(_ bytes: Int64) {
        if !holdsFinishedFiles { strayBytes += Int128(bytes) }
    }

    // MARK: - Downloads with bytes

    /// Notes that a download with bytes has entered the queue. It was admitted before.
    mutating func noteQueued(_ id: RecordID) {
        // Of a replica's downloads, the database decides which one begins.
        if holdsFinishedFiles { begun.insert(id) }
    }

    /// Notes that a download has left the queue.
    mutating func noteLeft(_ id: RecordID) {
        if !begun.isEmpty { begun.remove(id) }
    }
}
