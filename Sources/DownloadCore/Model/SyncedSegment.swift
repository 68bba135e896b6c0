package import System

/// A byte range of the file whose beginning is on disk. After a crash, no other bytes of the part file are trusted.
package struct SyncedSegment: Sendable, Equatable {
    /// The offset of its first byte in the file.
    package var start: Int64
    /// The offset behind its last byte; `nil` if it extends to the end of a file of unknown length.
    package var end: Int64?
    /// The offset behind the last synced byte. Every byte from `start` to here has been synced.
    package var synced: Int64
    /// The fingerprint of the synced bytes; `nil` if it is unknown.
    package var fingerprint: Fingerprint?

    package init(start: Int64, end: Int64?, synced: Int64, fingerprint: Fingerprint? = nil) {
        self.start = start
        self.end = end
        self.synced = synced
        self.fingerprint = fingerprint
    }

    /// The number of bytes on disk.
    package var length: Int64 { max(synced - start, 0) }
}
