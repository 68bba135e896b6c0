import Glibc
import System

/// The directory that a service keeps everything in, held for as long as this value lives: no second instance gets it.
///
/// The lock is an advisory one on the directory itself. It needs no file of its own, and the kernel drops it with the
/// process, however that ends.
@safe
final class DataDirectory: Sendable {
    /// The directory.
    let path: String
    /// Where the directories of files are: the same one, unless another was named.
    let downloadsPath: String
    /// What finished files and their directories are to be readable for.
    let permissions: FilePermissions
    /// The records.
    var databasePath: String { "\(path)/\(Self.databaseName)" }
    /// Part files.
    var incompletePath: String { downloadsPath + "/incomplete" }
    /// Finished files, and nothing else ever.
    var filesPath: String { downloadsPath + "/files" }

    /// The directory of part files. While the downloads directory is away, nothing can be done in it.
    var incomplete: Directory { downloads.withLock { $0.incomplete } }
    /// The directory of finished files. The same holds for it.
    var files: Directory { downloads.withLock { $0.files } }

    /// The directory that these two are in.
    var downloadsTop: Directory { downloads.withLock { $0.top } ?? top }

    /// The directories of files, as far as they are open.
    private struct Downloads {
        var incomplete = Directory.closed
        var files = Directory.closed
        /// The downloads directory, locked, if it is another than the data directory.
        var top: Directory?
    }

    /// The name of the records' file.
    static let databaseName = "pawl.sqlite"
    /// The file in a downloads directory that tells it from a bare mount point.
    static let markerName = ".pawl"

    /// The directory itself, locked.
    let top: Directory
    /// Whether no other user can have put anything into it.
    private let isClaimed: Bool
    private let downloads = Locked(Downloads())

    /// Makes the directory and those inside it where they are missing, readable by the owner only, and takes its lock.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - claimed: the same, open, if it was claimed: the directories of files in it have to be this user's, too.
    ///   - downloadsPath: where part files and finished files are kept instead, such as on another volume. It is locked as well: no
    ///     second service gets it, whatever its records are.
    ///   - permissions: what finished files and their directories are to be readable for.
    ///   - opensDownloads: whether the directories of files are opened as well. If not, ``openDownloads()`` does it.
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    init(
        path: String, claimed: Directory? = nil, downloads downloadsPath: String? = nil,
        permissions: FilePermissions = FilePermissions(), opensDownloads: Bool = true
    ) throws(StoreError) {
        self.permissions = permissions
        self.path = try Self.trimmed(path)
        self.downloadsPath = try downloadsPath.map(Self.absolute) ?? self.path
        isClaimed = claimed != nil
        if let claimed {
            top = try Self.lock(claimed, self.path)
        } else {
            // Readers of the files have to get to them.
            try Self.makeDirectories(self.path, downloadsPath == nil ? permissions.directory : nil)
            top = try Self.lock(Self.opened(self.path), self.path)
        }
        if opensDownloads { try openDownloads() }
    }

    /// Makes the directories of files where they are missing, opens them, and takes the lock of the directory that they are in.
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    func openDownloads() throws(StoreError) {
        var opened = Downloads()
        if downloadsPath != path {
            try Self.makeDirectories(downloadsPath, permissions.directory)
            opened.top = try Self.lock(Self.opened(downloadsPath), downloadsPath, besides: top)
        }
        let parent = opened.top ?? top
        // The mode of the directory itself stays: it may be a mounted volume.
        opened.incomplete = try directory("incomplete", in: parent, nil)
        opened.files = try directory("files", in: parent, permissions.directory)
        // Their names last once the directory that they are in is on the disk.
        try Self.flush(parent, downloadsPath)
        downloads.withLock { [opened] in $0 = opened }
    }

    /// Lets go of the directories of files, and of the lock of the directory that they are in.
    func closeDownloads() {
        downloads.withLock { $0 = Downloads() }
    }

    /// Whether the path still leads to the downloads directory that is open.
    /// - Parameter id: the identity of the marker that it must have; `nil`: it need have none.
    func isOpen(_ id: String?) -> Bool {
        guard let held = try? downloads.withLock({ $0.top })?.status().identity, let found = downloadsIdentity(),
            held.isSameFile(as: found)
        else { return false }
        guard let id else { return true }
        guard case .marker(let marker) = findMarker() else { return false }
        return marker.id == id
    }

    /// The identity of the directory at the path of the downloads directory; `nil` if there is none.
    func downloadsIdentity() -> FileIdentity? { try? Directory(opening: downloadsPath).status().identity }

    /// Reads the marker of the downloads directory.
    func findMarker() -> KnownVolumes.Found {
        guard let top = try? Directory(opening: downloadsPath), let file = try? top.open(Self.markerName, .reading),
            (try? file.status().kind) == .regular
        else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 256)
        guard let count = try? file.read(into: &buffer, count: buffer.count, at: 0) else { return .nothing }
        if count == 0 { return .approval }
        return VolumeMarker(String(decoding: buffer.prefix(count), as: UTF8.self)).map { .marker($0) } ?? .nothing
    }

    /// Whether the downloads directory has part files.
    func hasParts() -> Bool {
        let names = try? Directory(opening: downloadsPath).openDirectory("incomplete").entries()
        return names?.contains { PartName($0) != nil } ?? false
    }

    /// Writes the marker of the downloads directory that is open, wherever its path leads by now; it is on the disk when this returns.
    func write(_ marker: VolumeMarker) throws(FileError) {
        try describing("write", "\(downloadsPath)/\(Self.markerName)") { () throws(SystemError) in
            guard let top = downloads.withLock({ $0.top }) else { throw SystemError(ENOENT) }
            let bytes = Array(marker.text.utf8)
            // All markers are equally long, so one is written over another.
            if let status = try top.status(of: Self.markerName), status.identity.size == bytes.count {
                let file = try top.open(Self.markerName, .writing)
                unsafe try file.write(bytes.span.bytes, at: 0)
                return try file.synchronizeData()
            }
            // An empty marker approves any directory, so none is left where writing fails.
            let name = Self.markerName + ".new"
            try top.remove(name)
            do throws(SystemError) {
                let file = try top.open(name, .creating)
                unsafe try file.write(bytes.span.bytes, at: 0)
                try file.synchronizeData()
                try top.rename(name, to: Self.markerName)
            } catch {
                _ = try? top.remove(name)
                throw error
            }
            try top.synchronize()
        }
    }

    /// Flushes a directory.
    private static func flush(_ directory: Directory, _ path: String) throws(StoreError) {
        try naming(path) { () throws(SystemError) in try directory.synchronize() }
    }

    /// Bytes that the file system has, free or not; 0 if it does not tell.
    func capacity() -> Int64 { (try? top.space().size) ?? 0 }

    /// Names the directory among those of a fleet: made up when it is first asked for, and kept in a file.
    func node() throws(StoreError) -> String {
        try Self.naming("\(path)/node") { () throws(SystemError) in
            if let kept = try top.contents(of: "node", limit: DownloadID.length),
                let id = DownloadID(String(decoding: kept, as: UTF8.self))
            {
                return id.description
            }
            var random = SystemRandom()
            var identifiers = DownloadIDGenerator()
            let name = identifiers.next(now: .now(), using: &random).description
            try top.write(Array(name.utf8), to: "node")
            return name
        }
    }

    /// Refuses the directory if it has a file of that name.
    func refuse(having name: String, _ reason: String) throws(StoreError) {
        if (try? top.status(of: name)) != nil { throw .unavailable(path: path, reason: reason) }
    }

    /// A line for each directory in which other users could exchange files, unless it was claimed. Volumes of containers are often made
    /// so, and the operator named them: they are used all the same.
    var warnings: [String] {
        let claimed = isClaimed ? [] : [(top, path)]
        let apart = downloads.withLock { $0.top }.map { [($0, downloadsPath)] } ?? []
        return (claimed + apart).compactMap { directory, path in
            guard let status = try? directory.status() else { return nil }
            if !status.isOwn { return "\(path) belongs to another user (\(status.owner)), who could exchange its files" }
            return status.permissions & 0o002 == 0 ? nil : "other users may write to \(path), and could exchange its files"
        }
    }

    deinit {
        // Closing is not enough: a child process that is being made has copies of the descriptors until it begins.
        release()
    }

    /// Lets another instance have the directory although this value still lives.
    func release() {
        top.unlock()
        downloads.withLock { $0.top }?.unlock()
    }

    /// Creates the record file readable by the owner only, since it holds request headers with secrets: left to itself,
    /// SQLite would follow the umask. Its companion files copy the mode.
    func prepareDatabaseFile() throws(StoreError) {
        try Self.naming(databasePath) { () throws(SystemError) in
            let file = try top.open(Self.databaseName, .keeping)
            try file.setPermissions(0o600)
            try top.synchronize()
            // Room that an earlier run has left behind the file's end is for the companion files now: see `RecordReserve`.
            let status = try file.status()
            if status.allocated > status.identity.size { try? file.truncate(to: status.identity.size) }
        }
    }

    /// Opens the records, whose file has to be there.
    func openDatabase() throws -> SQLiteConnection { try SQLiteConnection(Self.databaseName, in: top) }
}

extension DataDirectory {
    /// Says of a failed system call which path it was about.
    private static func naming<Value>(_ path: String, _ body: () throws(SystemError) -> Value) throws(StoreError) -> Value {
        do throws(SystemError) { return try body() } catch { throw unavailable(path, error.number) }
    }

    private static func unavailable(_ path: String, _ error: Int32 = errno) -> StoreError {
        .unavailable(path: path, reason: SystemError(error).description)
    }

    /// The path without slashes at its end.
    private static func trimmed(_ path: String) throws(StoreError) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty else { throw .unavailable(path: path, reason: "no directory is named") }
        return path
    }

    /// The path from the root, in one spelling, so that it is recognised. Links are not followed: they may lead elsewhere later.
    private static func absolute(_ path: String) throws(StoreError) -> String {
        var path = try trimmed(path)
        if !path.hasPrefix("/") {
            let base = unsafe getcwd(nil, 0)
            guard let base = unsafe base else { throw unavailable(path) }
            defer { unsafe free(base) }
            path = unsafe String(cString: base) + "/" + path
        }
        return "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    private static func opened(_ path: String) throws(StoreError) -> Directory {
        try naming(path) { () throws(SystemError) in try Directory(opening: path) }
    }

    /// Takes the lock of a directory.
    /// - Parameter held: another directory that is locked already; if both are the same one, its lock is enough.
    private static func lock(
        _ directory: Directory, _ path: String, besides held: Directory? = nil
    ) throws(StoreError) -> Directory {
        if let held = try? held?.status().identity, let found = try? directory.status().identity, held.isSameFile(as: found) {
            return directory
        }
        let isLocked = try naming(path) { () throws(SystemError) in try directory.lock() }
        guard isLocked else { throw .inUse(path: path) }
        return directory
    }

    /// Makes the directory and whatever leads to it.
    /// - Parameter permissions: those that it gets if it is made; `nil`: its owner's alone.
    private static func makeDirectories(_ path: String, _ permissions: UInt32?) throws(StoreError) {
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw unavailable(path, ENOTDIR) }
            return
        }
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if parent != ".", parent != "/" { try makeDirectories(parent, permissions) }
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw unavailable(path) }
        if let permissions { try set(permissions, of: opened(path), path) }
        // The new name lasts once the directory that holds it is written.
        try? Directory(opening: parent).synchronize()
    }

    /// Opens a directory in a directory of files. It is made if it is missing.
    private func directory(_ name: String, in parent: Directory, _ permissions: UInt32?) throws(StoreError) -> Directory {
        let path = "\(downloadsPath)/\(name)"
        let directory = try Self.naming(path) { () throws(SystemError) in
            try parent.makeDirectory(name)
            return try parent.openDirectory(name)
        }
        // Another user may have put it there before the directory around it was closed to others.
        if isClaimed, downloadsPath == self.path, let status = try? directory.status(), !status.isOwn {
            throw .unavailable(path: path, reason: "it belongs to another user (\(status.owner))")
        }
        if let permissions { try Self.set(permissions, of: directory, path) }
        return directory
    }

    private static func set(_ permissions: UInt32, of directory: Directory, _ path: String) throws(StoreError) {
        do throws(SystemError) {
            try directory.setPermissions(permissions)
        } catch {
            throw .unavailable(path: path, reason: "\(error): --directory-mode asks for another mode than it has")
        }
    }
}
