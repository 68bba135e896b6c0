package import DownloadCore
package import System

/// The finished files of downloads under their names: on this machine, or in object storage.
///
/// Functions that are not `async` return quickly and only handle names, unless they are documented to wait.
package protocol FinishedFiles: Sendable {
    // MARK: - Publishing

    /// Begins to give a verified file its name, or the next free name if another program has placed a file there.
    /// Missing folders are created. The publication's outcome follows once the name is durable.
    func begin(_ publication: Publication)

    /// Begins to remove files that only a crash before the record's commit would have needed. Called once the record
    /// includes the publication.
    /// - Parameter handler: Called at the end with the error; `nil` if there was none.
    func finishPublishing(_ id: RecordID, then handler: @escaping @Sendable (FileError?) -> Void)

    /// Waits for the publications in progress to end, so that the objects of abandoned ones are discarded. Returns at
    /// once if files are on this machine.
    func settle() async

    /// Tests the publication of a file, with a file that is then removed.
    /// - Parameter isHidden: Whether the file receives no name among finished files.
    /// - Throws: The reason that no file can be published, or no part file created.
    func tryPublishing(isHidden: Bool) throws(FileError)

    // MARK: - Names

    /// Returns whether an entry of any kind has a path.
    func isTaken(_ path: FilePath) -> Bool

    /// Returns the reason that a folder cannot be created or used; `nil` if no obstacle is known. `.away` and `.noRoom`
    /// pass, and `.other` does not.
    func obstacle(to folder: String) -> FileError?

    // MARK: - Files

    /// Whether the files are in object storage. They then have addresses, and cannot be opened.
    var keepsObjects: Bool { get }

    /// Whether files have to wait for the object storage, as far as is known.
    var isStorageAway: Bool { get }

    /// Returns the bytes of all finished files, even those without a record, but without files that are being
    /// published. May wait for the disk; the duration grows with the number of files.
    func finishedBytes() throws(FileError) -> Int128

    /// Returns whether a finished file is there, as far as names and identities tell: another file may have its path.
    func has(_ file: PublishedFile) -> Bool

    /// Returns whether no file of its length is at the path of a finished file. May wait for the disk.
    func isGone(_ file: PublishedFile) -> Bool

    /// Opens a finished file for reading. A file with another time is hashed first.
    /// - Throws: `.missing` if the file is missing, or another file has the path.
    func open(_ file: PublishedFile) throws(FileError) -> FileDescriptor

    /// Opens a finished file if that needs no disk, so that an event loop may call it; `nil` if it needs one, or fails.
    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor?

    /// Returns a URL of a finished file that is valid for this number of seconds; `nil` if the file is not in object storage.
    func address(
        of id: RecordID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String, validFor seconds: Int
    ) -> String?

    /// Removes a finished file, and folders that are then empty. A file with another time is hashed first. Has no effect
    /// on another file with its path, and does not fail if the file is missing.
    func remove(_ file: PublishedFile) throws(FileError) -> RemovedFiles

    /// Determines whether a finished file is still the published one. A file with another identity is hashed: it may be
    /// the same file, restored from a backup or moved with its file system.
    /// - Parameters:
    ///   - id: The download of the file.
    ///   - isHashed: Whether a file with another identity is hashed even if its time of the last write is the same.
    func recognise(
        _ file: PublishedFile, of id: RecordID, isHashed: Bool
    ) async throws(FileError) -> FileRecognition
}

/// The comparison of a finished file with its record.
package enum FileRecognition: Sendable, Equatable {
    /// It is the file of the record.
    case identical
    /// Its length and SHA-256 are as in the record, but it has this identity now.
    case adopted(FileIdentity)
    /// Its length and the time of its last write are as in the record, but it has this identity now: its file system
    /// was mounted again, or numbers names. Its bytes are still to be compared.
    case likely(FileIdentity)
    /// Another file has the path.
    case different
    /// No file has the path.
    case missing
}
