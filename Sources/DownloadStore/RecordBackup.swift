public import DownloadCore
internal import DownloadFiles
internal import Glibc
public import System

/// Copies the records as of one moment, even while a service uses them.
public enum RecordBackup {
    /// The maximum wait for other programs that lock the records, in milliseconds.
    private static let patience: Int32 = 30_000

    /// The names of the service's directories in a data directory.
    private static let directories = ["files", "incomplete", "damaged"]

    /// Writes a durable copy of a data directory's records. Only its owner can read it, because records may hold
    /// secrets. The copy replaces an existing file in one step; if it fails, that file stays unchanged.
    /// - Parameters:
    ///   - dataDirectory: The data directory of a service, which may be running.
    ///   - opened: The same directory, open, if it is private.
    ///   - path: The path of the copy. It must not be a file of the service itself.
    ///   - unfinished: Removes the incomplete copy if the process ends early.
    /// - Throws: An error with a message of one line.
    public static func write(
        of dataDirectory: String, opened: Directory? = nil, to path: String, unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(DownloadsStartError) {
        do throws(StoreError) {
            let data = try StoreError.describing(dataDirectory) { () throws(SystemError) in
                if let opened { return opened }
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

    /// Copies a record file to a name in another directory or the same one. `dataPath` and `folder` are the directories' paths.
    package static func copy(
        _ records: String, of data: Directory, at dataPath: String, to name: String, in directory: Directory, at folder: String,
        unfinished: UnfinishedBackup = UnfinishedBackup()
    ) throws(StoreError) {
        let (source, path) = (SmallFile.path(of: records, in: dataPath), SmallFile.path(of: name, in: folder))
        let original = try StoreError.describing(source) { () throws(SystemError) in try data.open(records, .reading).status() }
        guard original.identity.size > 0 else {
            throw .unavailable(path: source, reason: "it has no bytes: the records are lost")
        }
        // A link at the path counts as the file that it leads to.
        let existing = try? FileDescriptor(opening: path).status()
        guard existing.map({ $0.kind == .regular }) ?? true else {
            throw .unavailable(path: path, reason: "it is there, and is no regular file")
        }
        if let existing, existing.identity.isSameFile(as: original.identity) {
            throw .unavailable(path: path, reason: "it is the record file itself")
        }
        guard !name.isEmpty else { throw .unavailable(path: path, reason: "it names no file") }
        // A random name avoids other copies to the same path, and existing files.
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
                original.setPatience(milliseconds: patience)
                // One state of one moment, without free pages, and without the log (<https://www.sqlite.org/lang_vacuum.html>).
                let target = try original.prepare("VACUUM INTO ?1")
                try target.bind(1, directory.descriptorPath(of: temporary))
                try target.run()
                let finding = try SQLiteConnection(temporary, in: directory).text("PRAGMA quick_check(1)") ?? "nothing"
                guard finding == "ok" else { throw StoreError.damaged(finding) }
            }
            try StoreError.describing(path) { () throws(SystemError) in
                try file.synchronize()
                // SQLite makes a new file if the process is ending, and has removed this one.
                guard try directory.status(of: temporary)?.identity.isSameFile(as: file.status().identity) ?? false else {
                    throw SystemError(EINTR)
                }
                try directory.rename(temporary, to: name)
                try directory.synchronize()
            }
        } catch {
            unfinished.remove()
            throw error
        }
    }

    /// Returns the name of the service's own file or directory that a path leads to, or into; `nil` if there is none.
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

/// The file of a copy in progress, which is removed if the process ends early.
public final class UnfinishedBackup: Sendable {
    private struct State: Sendable {
        var directory: Directory?
        var name = ""
        var isOver = false
    }

    private let state = Locked(State())

    /// Creates the state of a copy that has not begun.
    public init() {}

    /// Removes the incomplete copy and makes it fail. A complete copy stays.
    public func remove() {
        state.withLock { state in
            state.isOver = true
            guard let directory = state.directory else { return }
            for companion in ["", "-journal", "-wal", "-shm"] { _ = try? directory.remove(state.name + companion) }
        }
    }

    /// Creates the new file that receives the copy.
    package func create(_ name: String, in directory: Directory) throws(SystemError) -> FileDescriptor {
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
    /// Adds the path to the error of a failed system call.
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
