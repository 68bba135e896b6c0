import System

/// Copies of the records: as they stand at one moment, whatever a service does with them meanwhile.
public enum RecordBackup {
    /// The longest that a copy waits for others who lock the records.
    private static let patience: Duration = .seconds(30)

    /// Writes a copy of a data directory's records, durably, readable for its owner only: they may hold secrets. It takes the place of
    /// what bears that name in one step; if it fails, that stays as it is.
    /// - Parameters:
    ///   - dataDirectory: of a service, which may be running.
    ///   - path: where to.
    /// - Throws: one clear line.
    public static func write(of dataDirectory: String, to path: String) throws(DownloadsStartError) {
        do throws(StoreError) {
            try copy(dataDirectory + "/pawl.sqlite", to: path)
        } catch {
            throw DownloadsStartError(error.description)
        }
    }

    /// Copies a record file.
    static func copy(_ source: String, to path: String) throws(StoreError) {
        let original = try StoreError.describing(source) { () throws(SystemError) in
            try FileDescriptor(opening: source).status().identity
        }
        let existing = try? FileDescriptor(opening: path).status()
        guard existing.map({ $0.kind == .regular }) ?? true else {
            throw .unavailable(path: path, reason: "it is there, and is no regular file")
        }
        if let existing, (existing.identity.device, existing.identity.inode) == (original.device, original.inode) {
            throw .unavailable(path: path, reason: "it is the record file itself")
        }
        let slash = path.lastIndex(of: "/")
        let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let temporary = "\(name).partial"
        let directory = try StoreError.describing(folder) { () throws(SystemError) in try Directory(opening: folder) }
        do throws(StoreError) {
            let file = try StoreError.describing(path) { () throws(SystemError) in
                _ = try? directory.remove(temporary)
                return try directory.open(temporary, .creating)
            }
            try fill("\(folder)/\(temporary)", from: source)
            try StoreError.describing(path) { () throws(SystemError) in
                try file.synchronize()
                try directory.rename(temporary, to: name)
                try directory.synchronize()
            }
        } catch {
            _ = try? directory.remove(temporary)
            throw error
        }
    }

    private static func fill(_ path: String, from source: String) throws(StoreError) {
        try StoreError.translating {
            let records = try SQLiteConnection(path: source, creates: false)
            guard try records.number("PRAGMA application_id") == StoreSchema.applicationID else {
                throw StoreError.foreign(path: source)
            }
            let copy = try SQLiteConnection(path: path)
            try copy.fill(from: records, patience: patience)
            // One file holds everything, whoever opens it next.
            _ = try copy.text("PRAGMA journal_mode = DELETE")
            let finding = try copy.text("PRAGMA quick_check(1)") ?? "nothing"
            guard finding == "ok" else { throw StoreError.damaged(finding) }
        }
    }
}

extension StoreError {
    /// Says of a failed system call what it was about.
    fileprivate static func describing<Value>(
        _ path: String, _ body: () throws(SystemError) -> Value
    ) throws(StoreError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw error.kind == .outOfSpace ? .full : .unavailable(path: path, reason: error.description)
        }
    }
}
