import Glibc
public import System

/// Copies of the records: as they stand at one moment, whatever a service does with them meanwhile.
public enum RecordBackup {
    /// The longest that a copy waits for others who lock the records.
    private static let patience: Duration = .seconds(30)

    /// What a data directory has directories of its own for.
    private static let directories = ["files", "incomplete", "damaged"]

    /// Writes a copy of a data directory's records, durably, readable for its owner only: they may hold secrets. It takes the place of
    /// what bears that name in one step; if it fails, that stays as it is.
    /// - Parameters:
    ///   - dataDirectory: of a service, which may be running.
    ///   - claimed: the same, open, if it was claimed.
    ///   - path: where to; not what the service itself keeps there.
    ///   - unfinished: what removes the copy if the process is to end before it is complete.
    /// - Throws: one clear line.
    public static func write(
        of dataDirectory: String, claimed: Directory? = nil, to path: String, unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(DownloadsStartError) {
        do throws(StoreError) {
            let data = try StoreError.describing(dataDirectory) { () throws(SystemError) in
                if let claimed { return claimed }
                return try Directory(opening: dataDirectory)
            }
            for candidate in [path, ProcessEnvironment.absolutePath(path)] {
                guard let name = try serviceName(candidate, in: data, at: dataDirectory) else { continue }
                throw StoreError.unavailable(
                    path: path, reason: "'\(name)' of the data directory belongs to the service; name a file elsewhere")
            }
            let (folder, name) = SmallFile.parts(of: path)
            let directory = try StoreError.describing(folder) { () throws(SystemError) in try Directory(opening: folder) }
            try copy(
                DataDirectory.databaseName, of: data, at: dataDirectory, to: name, in: directory, at: folder,
                unfinished: unfinished)
        } catch {
            throw DownloadsStartError(error.description)
        }
    }

    /// Copies a record file to a name in a directory, which may be the same. Both paths are those of the directories.
    static func copy(
        _ records: String, of data: Directory, at dataPath: String, to name: String, in directory: Directory, at folder: String,
        unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(StoreError) {
        let (source, path) = (SmallFile.path(of: records, in: dataPath), SmallFile.path(of: name, in: folder))
        let original = try StoreError.describing(source) { () throws(SystemError) in try data.open(records, .reading).status() }
        // A link at that place counts as the file that it leads to.
        let existing = try? FileDescriptor(opening: path).status()
        guard existing.map({ $0.kind == .regular }) ?? true else {
            throw .unavailable(path: path, reason: "it is there, and is no regular file")
        }
        if let existing, existing.identity.isSameFile(as: original.identity) {
            throw .unavailable(path: path, reason: "it is the record file itself")
        }
        guard !name.isEmpty else { throw .unavailable(path: path, reason: "it names no file") }
        // Nobody else's: neither that of another copy to the same path, nor a file that was there before.
        let temporary = ".pawl-backup.\(String(UInt64.random(in: .min ... .max), radix: 36)).partial"
        do throws(StoreError) {
            let file = try StoreError.describing(path) { () throws(SystemError) in
                try unfinished.create(temporary, in: directory)
            }
            try StoreError.translating {
                let original = try SQLiteConnection(records, in: data)
                guard try original.number("PRAGMA application_id") == StoreSchema.applicationID else {
                    throw StoreError.foreign(path: source)
                }
                try fill(
                    SQLiteConnection(temporary, in: directory), from: original)
            }
            try StoreError.describing(path) { () throws(SystemError) in
                try file.synchronize()
                try directory.rename(temporary, to: name)
                try directory.synchronize()
            }
        } catch {
            unfinished.remove()
            throw error
        }
    }

    private static func fill(_ copy: SQLiteConnection, from records: SQLiteConnection) throws {
        // No journal beside the copy: half of a copy is of no use.
        _ = try copy.text("PRAGMA journal_mode = MEMORY")
        try copy.fill(from: records, patience: patience)
        // One file holds everything, whatever opens it next: it is no longer one with a log.
        _ = try copy.text("PRAGMA journal_mode = MEMORY")
        let finding = try copy.text("PRAGMA quick_check(1)") ?? "nothing"
        guard finding == "ok" else { throw StoreError.damaged(finding) }
    }

    /// What of the service's own a path leads to, or into: the name that it has in the data directory; nil if it is nothing of it.
    private static func serviceName(
        _ path: String, in data: Directory, at dataPath: String
    ) throws(StoreError) -> String? {
        let (folder, name) = SmallFile.parts(of: path)
        let identity = try StoreError.describing(dataPath) { () throws(SystemError) in try data.status().identity }
        let lineage = try StoreError.describing(folder) { () throws(SystemError) in
            try Directory(opening: folder).lineage()
        }
        if let inmost = lineage.first, inmost.isSameFile(as: identity),
            name.hasPrefix(DataDirectory.databaseName) || directories.contains(name)
        {
            return name
        }
        return directories.first { directory in
            guard let own = try? data.openDirectory(directory).status().identity else { return false }
            return lineage.contains { own.isSameFile(as: $0) }
        }
    }
}

/// The files of one copy that is being written: whoever ends the process removes them.
public final class UnfinishedBackup: Sendable {
    private struct State: Sendable {
        var directory: Directory?
        var name = ""
        var isOver = false
    }

    private let state = Locked(State())

    /// Of a copy that has not begun.
    public init() {}

    /// Removes what there is of the copy, which fails then. A copy that is complete stays.
    public func remove() {
        state.withLock { state in
            state.isOver = true
            guard let directory = state.directory else { return }
            for companion in ["", "-journal", "-wal", "-shm"] { _ = try? directory.remove(state.name + companion) }
        }
    }

    /// Makes the file that is filled: a new one.
    func create(_ name: String, in directory: Directory) throws(SystemError) -> FileDescriptor {
        try state.withLock { (state: inout State) throws(SystemError) -> FileDescriptor in
            guard !state.isOver else { throw SystemError(EINTR) }
            let file = try directory.open(name, .creating)
            state.directory = directory
            state.name = name
            return file
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
