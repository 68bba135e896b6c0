/// A range of the file and how much of it is known to be on disk. After a crash nothing else of the part file is trusted.
struct SyncedSegment: Sendable, Equatable {
    /// Where it starts in the file, in bytes.
    var start: Int64
    /// Where it ends, exclusively; `nil`: at the end of a file of unknown length.
    var end: Int64?
    /// Every byte from `start` up to here, exclusively, has been synced.
    var synced: Int64

    init(start: Int64, end: Int64?, synced: Int64) {
        self.start = start
        self.end = end
        self.synced = synced
    }

    /// Bytes of it on disk.
    var length: Int64 { max(synced - start, 0) }
}
