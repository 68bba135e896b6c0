package import DownloadCore

/// Writes groups of changes to a database, and reads its contents. It belongs to one thread at a time, like its
/// connection. ``GroupCommitter`` drives it.
package protocol RecordWriter: StoreReader, AnyObject, SendableMetatype {
    /// Reads everything, with records in order of creation. Called once, before any write.
    func load() throws(StoreError) -> StoredContents

    /// Commits all changes durably, or none. Without changes, it renews the lease.
    /// - Parameter isRepeated: Whether the last call had the same changes and was interrupted.
    /// - Throws: `.interrupted` if the outcome is unknown. The call must then be repeated with the same changes.
    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError)

    /// Reserves disk space for changes to existing records. Called before a write that needs room, and after each
    /// group.
    /// - Returns: Whether the space is reserved; true if that cannot be determined.
    func reserveRoom() -> Bool

    /// Does a part of the work that can wait, of some milliseconds: removes rows that belong to nothing any more, and gives
    /// free pages back to the file system.
    /// - Returns: Whether there is more to do.
    func tidy() -> Bool

    /// The maximum time between two commits; `nil` if there is none.
    var longestSilence: Duration? { get }

    /// Closes the database and releases everything that was held for it. No other call follows.
    func close()
}

extension RecordWriter {
    package func tidy() -> Bool { false }
}
