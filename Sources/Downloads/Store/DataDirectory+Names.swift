internal import Glibc

extension DataDirectory {
    /// The download's bytes so far.
    func part(_ id: DownloadID) -> String { "\(incompletePath)/\(id).part" }

    /// Bytes of a newer version of the entity, until the store knows that the older one is given up: see ``TransferAttempt``.
    func replacement(_ id: DownloadID) -> String { part(id) + ".next" }

    /// A finished file.
    func file(_ name: String) -> String { "\(filesPath)/\(name)" }

    /// Bytes that an unprivileged process can still write to the file system; `nil` if it does not tell.
    func freeBytes() -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }
}
