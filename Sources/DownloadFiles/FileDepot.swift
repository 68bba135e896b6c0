package import DownloadCore
package import System

/// The bytes of downloads: part files of unfinished downloads, and finished files under their names.
///
/// Functions that are not `async` return quickly and only handle names, unless they are documented to wait.
package protocol FileDepot: Sendable {
    /// Returns the bytes that may still be written to the file system of part files and finished files. May wait for
    /// the disk.
    func freeBytes() throws(FileError) -> Int64

    /// Returns the bytes of all finished files, even those without a record, but without files that are being
    /// published. May wait for the disk; the duration grows with the number of files.
    func finishedBytes() throws(FileError) -> Int128

    // MARK: - Part files

    /// Opens an existing part file, to continue a download. Never creates one.
    /// - Parameters:
    ///   - generation: The generation in the download's record.
    ///   - length: The minimum number of bytes that the file must have.
    /// - Throws: `.missing`, `.short` or `.notRegular` if the download cannot be continued from it.
    func openPart(_ id: DownloadID, _ generation: UInt64?, holding length: Int64) throws(FileError) -> PartFile

    /// Creates an empty part file of a new generation.
    /// - Parameter keepsOthers: Whether the record may still count on bytes of an earlier generation. Otherwise those
    ///   part files are removed.
    func createPart(_ id: DownloadID, keepsOthers: Bool) throws(FileError) -> PartFile

    /// Removes the part file of one generation.
    func removePart(_ id: DownloadID, _ generation: UInt64?) throws(FileError) -> RemovedFiles

    /// Removes the part files of all other generations. Called once the record no longer counts on their bytes.
    func removeOtherParts(_ id: DownloadID, than generation: UInt64?) throws(FileError) -> RemovedFiles

    /// Removes all files of an unfinished download.
    func removeParts(_ id: DownloadID) throws(FileError) -> RemovedFiles

    // MARK: - Finishing

    /// Begins to hash a whole part file, to compare it with the expected checksums, and to flush it. The result is the
    /// verification's outcome.
    func begin(_ verification: Verification)

    /// Begins to give a verified file its name, or the next free name if another program has placed a file there.
    /// Missing folders are created. The publication's outcome follows once the name is durable.
    func begin(_ publication: Publication)

    /// Begins to remove files that only a crash before the record's commit would have needed. Called once the record
    /// includes the publication.
    /// - Parameter handler: Called at the end with the error; `nil` if there was none.
    func finishPublishing(_ id: DownloadID, then handler: @escaping @Sendable (FileError?) -> Void)

    // MARK: - Finished files

    /// Returns whether an entry of any kind has a path.
    func isTaken(_ path: FilePath) -> Bool

    /// Returns the reason that a folder does not exist and cannot be created, as the end of a sentence; `nil` if it
    /// exists or no obstacle is known.
    func obstacle(to folder: String) -> String?

    /// Returns whether a finished file is there, as far as names and identities tell: another file may have its path.
    func has(_ file: PublishedFile) -> Bool

    /// Opens a finished file for reading.
    /// - Throws: `.missing` if the file is missing, or another file has the path.
    func open(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> FileDescriptor

    /// Opens a finished file if that needs no disk, so that an event loop may call it; `nil` if it needs one, or fails.
    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor?

    /// Removes a finished file, and folders that are then empty. Has no effect on another file with its path, and does
    /// not fail if the file is missing.
    func remove(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> RemovedFiles

    /// Determines whether a finished file is still the published one. A file with another identity is hashed: it may be
    /// the same file, restored from a backup or moved with its file system.
    /// - Parameter id: The download of the file.
    func recognise(_ file: PublishedFile, of id: DownloadID) async throws(FileError) -> FileRecognition

    /// The object storage of finished files; `nil` if they are on this machine.
    var objects: ObjectDepot? { get }

    // MARK: - Recovery

    /// Finds the bytes that an earlier run has left of an unfinished download.
    /// - Parameters:
    ///   - generation: The generation in the download's record.
    ///   - likelyPath: The path in the download's record. The file may have received another name.
    func recover(_ id: DownloadID, _ generation: UInt64?, likelyPath: FilePath?) throws(FileError) -> RecoveredPart

    /// Opens a file that already has its name, to verify it.
    func openPublished(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> PartFile

    /// Forgets the known part files, because the directory may be another one.
    func forgetParts()

    /// Tests the publication of a file, with a file that is then removed.
    /// - Parameter isHidden: Whether the file receives no name among finished files.
    /// - Throws: The reason that no file can be published, or no part file created.
    func tryPublishing(isHidden: Bool) throws(FileError)

    /// Removes the part files that no record counts on.
    /// - Parameter isKept: Returns whether the part file of a download and a generation is kept.
    func removeOrphans(keeping isKept: (DownloadID, UInt64?) -> Bool) throws(FileError)
}

extension FileDepot {
    package var objects: ObjectDepot? { nil }
}

/// The reason that a file could not be finished.
package enum FinishingFailure: Error, Sendable, Equatable {
    /// It was abandoned meanwhile.
    case abandoned
    /// Its bytes do not match the expected checksum.
    case checksum(expected: String, actual: String)
    case file(FileError)
}

/// A part file whose bytes were verified.
package struct VerifiedFile: Sendable {
    package let part: PartFile
    /// Its length in bytes.
    package let length: Int64
    package let sha256: [UInt8]
    /// Whether its bytes are on the disk. Small files are flushed together when they are published.
    package let isFlushed: Bool
}

/// The comparison of a finished file with its record.
package enum FileRecognition: Sendable, Equatable {
    /// It is the file of the record.
    case identical
    /// Its length and SHA-256 are those of the record, but it has this identity now.
    case adopted(FileIdentity)
    /// Another file has the path.
    case different
    /// No file has the path.
    case missing
}
