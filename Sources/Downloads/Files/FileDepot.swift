internal import System

/// Where the bytes of downloads are: part files while they come, and finished files under their names.
///
/// What is not `async` deals with names only, and is quick.
protocol FileDepot: Sendable {
    /// Bytes that may still be written to the file system where part files and finished files are. May wait for the disk.
    func freeBytes() throws(FileError) -> Int64

    /// Bytes of all finished files, whether or not a record tells of them, but for those that are just being published. May wait for the disk, and takes the longer the more there are.
    func finishedBytes() throws(FileError) -> Int128

    // MARK: - Part files

    /// Opens the part file of a download that counts on bytes of it.
    /// - Parameters:
    ///   - generation: the beginning that the bytes are of, as the record tells.
    ///   - length: the least number of bytes that it must have.
    /// - Throws: `.missing`, `.short` or `.notRegular` if there is nothing to continue from. It is never created here.
    func openPart(_ id: DownloadID, _ generation: UInt64?, holding length: Int64) throws(FileError) -> PartFile

    /// Creates an empty part file, of a generation that no other has.
    /// - Parameter keepsOthers: whether the record may still count on bytes of an earlier one. If not, those are removed.
    func createPart(_ id: DownloadID, keepsOthers: Bool) throws(FileError) -> PartFile

    /// Removes the part file of one generation.
    func removePart(_ id: DownloadID, _ generation: UInt64?) throws(FileError) -> RemovedFiles

    /// Removes the part files of all other generations. Not before the record has given up their bytes.
    func removeOtherParts(_ id: DownloadID, than generation: UInt64?) throws(FileError) -> RemovedFiles

    /// Removes everything that belongs to an unfinished download.
    func removeParts(_ id: DownloadID) throws(FileError) -> RemovedFiles

    // MARK: - Finishing

    /// Begins to hash a whole part file, to compare it with what it must match, and to flush it. The verification's outcome tells of it.
    func begin(_ verification: Verification)

    /// Begins to give a verified file its name, or the next free one if another program has put a file there. Folders that lead to it are
    /// made where they are missing. The publication's outcome tells of it once the name is durable.
    func begin(_ publication: Publication)

    /// Begins to discard what only a crash before the record's commit would have needed. Called once the record tells of the publication.
    /// - Parameter handler: called at the end, with what went wrong.
    func finishPublishing(_ id: DownloadID, then handler: @escaping @Sendable (FileError?) -> Void)

    // MARK: - Finished files

    /// Whether anything has a path.
    func isTaken(_ path: FilePath) -> Bool

    /// The reason why a folder is not there and cannot be made, as the end of a sentence; `nil` if it is there, or nothing is known
    /// to be in its way.
    func obstacle(to folder: String) -> String?

    /// Whether a finished file is there, as far as names tell: another file may have its path.
    func has(_ file: PublishedFile) -> Bool

    /// Opens a finished file to be read.
    /// - Throws: `.missing` if another file has the path, too.
    func open(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> FileDescriptor

    /// The same if it needs no disk, so that an event loop may do it; `nil` if it does, or fails in any way.
    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor?

    /// Removes a finished file, and the folders that are empty then. One that is not there is fine, and so is another that has its path:
    /// that stays.
    func remove(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> RemovedFiles

    /// Looks whether a finished file is still the one that was published. One with another identity is hashed: files that were
    /// restored from a backup, or whose file system was moved, are the same.
    /// - Parameter id: whose file it is.
    func recognise(_ file: PublishedFile, of id: DownloadID) async throws(FileError) -> FileRecognition

    /// Where finished files are, if that is object storage; `nil`: on this machine.
    var objects: ObjectDepot? { get }

    // MARK: - The start

    /// Finds the bytes that an earlier run has left of an unfinished download.
    /// - Parameters:
    ///   - generation: the generation that its record tells.
    ///   - likelyPath: the path that its record tells. The file may have got another name.
    func recover(_ id: DownloadID, _ generation: UInt64?, likelyPath: FilePath?) throws(FileError) -> RecoveredPart

    /// Opens a file that has its name already, to be verified.
    func openPublished(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> PartFile

    /// Forgets which part files there are: the directory may be another one.
    func forgetParts()

    /// Tries the way that a file is published, with a file that is removed again.
    /// - Parameter isHidden: whether that file gets no name among the finished ones.
    /// - Throws: why nothing can be published, or no part file be made.
    func tryPublishing(isHidden: Bool) throws(FileError)

    /// Removes the part files that no record counts on.
    /// - Parameter isKept: whether a download's part file of this generation is kept.
    func removeOrphans(keeping isKept: (DownloadID, UInt64?) -> Bool) throws(FileError)
}

extension FileDepot {
    var objects: ObjectDepot? { nil }
}

/// Why a file could not be finished.
enum FinishingFailure: Error, Sendable, Equatable {
    /// It was given up meanwhile.
    case abandoned
    /// Its bytes are not those that were promised.
    case checksum(expected: String, actual: String)
    case file(FileError)
}

/// A part file whose bytes are what they should be.
struct VerifiedFile: Sendable {
    let part: PartFile
    /// Bytes.
    let length: Int64
    let sha256: [UInt8]
    /// Whether its bytes are on the disk: small files are flushed together, when they are published.
    let isFlushed: Bool
}

/// A finished file as its record tells of it.
struct PublishedFile: Sendable, Equatable {
    let path: FilePath
    /// Bytes.
    let length: Int64
    let sha256: [UInt8]
    /// `nil` in records of releases that did not keep it.
    let identity: FileIdentity?
}

/// Whether a finished file is the one that its record tells of.
enum FileRecognition: Sendable, Equatable {
    /// It is.
    case identical
    /// It is, by length and SHA-256, and has another identity by now.
    case adopted(FileIdentity)
    /// Another file has its path.
    case different
    /// Nothing has its path.
    case missing
}

/// The bytes that an earlier run has left of an unfinished download.
enum RecoveredPart: Sendable, Equatable {
    case missing
    /// The part file that the record tells of, with so many bytes. The record tells which of them count.
    case part(size: Int64)
    /// The part file of this generation has all bytes, verified and flushed: this is their digest.
    case whole(size: Int64, sha256: [UInt8], generation: UInt64?)
    /// The file has its name already, and the record does not tell. It is verified again, against this digest, too, and published
    /// under this path. The record may be behind: of an earlier generation.
    case published(path: FilePath, identity: FileIdentity, sha256: [UInt8], generation: UInt64?)
}
