internal import System

extension DataDirectory {
    /// The download's bytes so far.
    func part(_ id: DownloadID) -> String { "\(incompletePath)/\(id).part" }

    /// Bytes of a newer version of the entity, until the store knows that the older one is given up: see ``TransferAttempt``.
    func replacement(_ id: DownloadID) -> String { part(id) + ".next" }

    /// A finished file.
    func file(_ name: String) -> String { "\(filesPath)/\(name)" }

    /// Bytes that the file system has, free or not; 0 if it does not tell.
    func capacity() -> Int64 {
        (try? FileSystemSpace(at: path).size) ?? 0
    }
}
