import Glibc
import System

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
    ///   - path: where to; not what the service itself keeps there.
    ///   - unfinished: what removes the copy if the process is to end before it is complete.
    /// - Throws: one clear line.
    public static func write(
        of dataDirectory: String, to path: String, unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(DownloadsStartError) {
        do throws(StoreError) {
            for candidate in [path, ProcessEnvironment.absolutePath(path)] {
                guard let name = try serviceName(candidate, in: dataDirectory) else { continue }
                throw StoreError.unavailable(
                    path: path, reason: "'\(name)' of the data directory belongs to the service; name a file elsewhere")
            }
            try copy(dataDirectory + "/pawl.sqlite", to: path, unfinished: unfinished)
        } catch {
            throw DownloadsStartError(error.description)
        }
    }

    /// Copies a record file.
    static func copy(
        _ source: String, to path: String, unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(StoreError) {
        let original = try StoreError.describing(source) { () throws(SystemError) in
            try FileDescriptor(opening: source).status().identity
        }
        let existing = try? FileDescriptor(opening: path).status()
        guard existing.map({ $0.kind == .regular }) ?? true else {
            throw .unavailable(path: path, reason: "it is there, and is no regular file")
        }
        if let existing, isSame(existing.identity, original) {
            throw .unavailable(path: path, reason: "it is the record file itself")
        }
        let (folder, name) = parts(of: path)
        guard !name.isEmpty else { throw .unavailable(path: path, reason: "it names no file") }
        // Nobody else's: neither that of another copy to the same path, nor a file that was there before.
        let temporary = ".pawl-backup.\(String(UInt64.random(in: .min ... .max), radix: 36)).partial"
        let directory = try StoreError.describing(folder) { () throws(SystemError) in try Directory(opening: folder) }
        do throws(StoreError) {
            let file = try StoreError.describing(path) { () throws(SystemError) in
                try unfinished.create(temporary, in: directory)
            }
            try fill("\(folder)/\(temporary)", from: source)
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

    private static func fill(_ path: String, from source: String) throws(StoreError) {
        try StoreError.translating {
            let records = try SQLiteConnection(path: source, creates: false)
            guard try records.number("PRAGMA application_id") == StoreSchema.applicationID else {
                throw StoreError.foreign(path: source)
            }
            // Not created once more if it was removed meanwhile; and no journal beside it, for nobody needs half of it.
            let copy = try SQLiteConnection(path: path, creates: false)
            _ = try copy.text("PRAGMA journal_mode = MEMORY")
            try copy.fill(from: records, patience: patience)
            // One file holds everything, whoever opens it next: it is no longer one with a log.
            _ = try copy.text("PRAGMA journal_mode = MEMORY")
            let finding = try copy.text("PRAGMA quick_check(1)") ?? "nothing"
            guard finding == "ok" else { throw StoreError.damaged(finding) }
        }
    }

    /// What of the service's own a path leads to, or into: the name that it has in the data directory; nil if it is nothing of it.
    private static func serviceName(_ path: String, in dataDirectory: String) throws(StoreError) -> String? {
        let (folder, name) = parts(of: path)
        let data = try StoreError.describing(dataDirectory) { () throws(SystemError) in
            try FileDescriptor(opening: dataDirectory).status().identity
        }
        let lineage = try StoreError.describing(folder) { () throws(SystemError) in
            try Directory(opening: folder).lineage()
        }
        if let inmost = lineage.first, isSame(inmost, data), name.hasPrefix("pawl.sqlite") || directories.contains(name) {
            return name
        }
        return directories.first { directory in
            guard let own = try? FileDescriptor(opening: "\(dataDirectory)/\(directory)").status() else { return false }
            return own.kind == .directory && lineage.contains { isSame($0, own.identity) }
        }
    }

    private static func isSame(_ one: FileIdentity, _ other: FileIdentity) -> Bool {
        (one.device, one.inode) == (other.device, other.inode)
    }

    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
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
