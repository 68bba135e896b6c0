package import System

/// The bytes that an earlier run has left of an unfinished download.
package enum RecoveredPart: Sendable, Equatable {
    case missing
    /// The part file of the record's generation, with its size in bytes. The record has the ranges that count.
    case part(size: Int64)
    /// The part file of this generation is whole, verified and flushed. Has its size in bytes and its digest.
    case whole(size: Int64, sha256: [UInt8], generation: UInt64)
    /// The file already has its name, but its record is not yet completed. It is verified again, also against this
    /// digest, and published under this path. The record may have an earlier generation.
    case published(path: FilePath, identity: FileIdentity, sha256: [UInt8], generation: UInt64)
}
