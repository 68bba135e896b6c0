package import DownloadCore
internal import Glibc
package import System

/// The directory that holds all data of a service. It is locked while this value lives, so that no second process can
/// use it.
///
/// The lock is an advisory lock on the directory itself. It needs no file, and the kernel releases it when the process
/// ends in any way.
@safe
package final class DataDirectory: Sendable {
    /// The path of the directory.
    package let path: String
    /// The directory that holds `incomplete` and `files`: the data directory, unless another was configured.
    package let downloadsPath: String
    /// The modes of finished files and their directories.
    package let permissions: FilePermissions
    /// The path of the record file.
    package var databasePath: String { "\(path)/\(Self.databaseName)" }
    /// The path of the directory of part files.
    var incompletePath: String { downloadsPath + "/incomplete" }
    /// The path of the directory of finished files. It never holds anything else.
    var filesPath: String { downloadsPath + "/files" }

    /// The directory of part files. It cannot be used while the downloads directory is missing.
    package var incomplete: Directory { downloads.withLock { $0.incomplete } }
    /// The directory of finished files. It cannot be used while the downloads directory is missing.
    package var files: Directory {
        let (files, isOnDemand) = downloads.withLock { ($0.files, $0.opensOnDemand) }
        return isOnDemand ? (try? Directory(opening: filesPath)) ?? .closed : files
    }

    /// The directory that holds `incomplete` and `files`.
    package var downloadsTop: Directory { downloads.withLock { $0.top } ?? top }

    /// The directories of files, if they are open.
    private struct Downloads {
        var incomplete = Directory.closed
        var files = Directory.closed
        /// Whether `files` is opened for each use, so that its file system can be unmounted.
        var opensOnDemand = false
        /// The downloads directory, locked; `nil` if it is the data directory.
        var top: Directory?
    }

    /// The name of the record file.
    package static let databaseName = "pawl.sqlite"
    /// The name of the marker, which distinguishes a downloads directory from a bare mount point.
    static let markerName = ".pawl"

    /// The name of the file that tests a directory.
    static let probeName = ".probe"

    /// The data directory, open and locked.
    package let top: Directory
    /// The file system of the open data directory; `nil` if it is unknown.
    private let device: UInt64?
    /// Whether no other user can have placed anything in it.
    private let isPrivate: Bool
    private let downloads = Locked(Downloads())
    /// The number of times in succession that the file system of the records was found to have failed.
    private let failedLooks = Locked(0)
    private static let maximumFailedLooks = 2

    /// Creates the directory and those inside it if they are missing, readable by the owner only, and locks the
    /// directory.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - opened: The same directory, open, if it is private. Its directories of files must then belong to this
    ///     user, too.
    ///   - downloadsPath: Another directory for part files and finished files, such as one on another volume; `nil` for
    ///     the data directory. It is locked as well, so that no second service can use it with other records.
    ///   - permissions: The modes of finished files and their directories.
    ///   - opensDownloads: Whether the directories of files are opened as well. Otherwise ``openDownloads()`` opens
    ///     them.
    /// - Throws: `StoreError.inUse` or `.unavailable`.
    package init(
        path: String, opened: Directory? = nil, downloads downloadsPath: String? = nil,
        permissions: FilePermissions = FilePermissions(), opensDownloads: Bool = true
    ) throws(StoreError) {
        self.permissions = permissions
        self.path = try Self.trimmed(path)
        self.downloadsPath = try downloadsPath.map(Self.absolute) ?? self.path
        isPrivate = opened != nil
        if let opened {
            top = try Self.lock(opened, self.path)
        } else {
            // Readers of finished files need access to the directory.
            try Self.makeDirectories(self.path, downloadsPath == nil ? permissions.directory : nil)
            top = try Self.lock(Self.opened(self.path), self.path)
        }
        device = try? top.status().identity.device
        if opensDownloads { try openDownloads() }
    }

    /// The file system that the path of the data directory leads to.
    private enum Place {
        /// The file system of the open records, or none that can be read.
        case same
        /// Nothing, or a directory without records, such as a mount point without its volume.
        case bare
        /// Another file system that is mounted there, or that has records.
        case other
    }

    private var place: Place {
        let found: Directory
        do throws(SystemError) { found = try Directory(opening: path) } catch { return error.kind == .notFound ? .bare : .same }
        guard let device, let status = try? found.status(), status.identity.device != device else { return .same }
        // The next instance would begin with no records in a bare mount point.
        let above = try? found.lineage().dropFirst().first?.device
        if above != status.identity.device { return .other }
        return [Self.databaseName, "node"].contains { (try? found.status(of: $0)) != nil } ? .other : .bare
    }

    /// Returns the reason that the process has to end, because the open records will never work again; `nil` if there is
    /// none. May wait for a disk.
    ///
    /// The path leads elsewhere, or the file system has failed. While the process keeps a failed one open, a new mount of
    /// the same disk fails as well. What comes back as another file system is waited for, such as FUSE.
    /// - Parameters:
    ///   - isSuspected: Whether an operation on the records has failed, so that the file system is tested.
    package func recordsEnd(isSuspected: Bool) -> String? {
        let place = place
        if place == .other { return "\(path) leads to another file system than the open records" }
        let failures = failedLooks.withLock { looks in
            looks = isSuspected && recordsFailure()?.isFinal == true ? looks + 1 : 0
            return looks
        }
        guard failures >= Self.maximumFailedLooks, place == .same else { return nil }
        return "the file system of \(path) has failed"
    }

    /// Creates the directories of files if they are missing, opens them, and locks the downloads directory.
    /// - Throws: `StoreError.inUse` or `.unavailable`.
    func openDownloads() throws(StoreError) {
        var opened = Downloads()
        if downloadsPath != path {
            try Self.makeDirectories(downloadsPath, permissions.directory)
            opened.top = try Self.lock(Self.opened(downloadsPath), downloadsPath, besides: top)
        }
        let parent = opened.top ?? top
        // The mode of the downloads directory itself stays, because it may be a mounted volume.
        opened.incomplete = try directory("incomplete", in: parent, nil)
        opened.files = try directory("files", in: parent, permissions.directory)
        // New names are durable once their directory is flushed.
        try Self.flush(parent, downloadsPath)
        downloads.withLock { [opened] in $0 = opened }
    }

    /// Checks that no other service uses the directory at the path of the downloads directory. Locks it only for that.
    /// - Throws: `StoreError.inUse`.
    func checkDownloadsAreUnused() throws(StoreError) {
        if let found = try? Directory(opening: downloadsPath) { _ = try Self.lock(found, downloadsPath, besides: top) }
    }

    /// Closes the directories of files, and releases the lock of the downloads directory. Otherwise the file system could
    /// not be unmounted.
    /// - Parameter keepsReads: Whether finished files can still be read.
    func closeDownloads(keepingReads keepsReads: Bool) {
        downloads.withLock { $0 = Downloads(opensOnDemand: keepsReads) }
    }

    /// Returns whether the path still leads to the open downloads directory.
    /// - Parameter id: The id of its marker; `nil` if it may have none.
    package func isOpen(_ id: String?) -> Bool {
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
    package func findMarker() -> KnownVolumes.Found {
        guard let top = try? Directory(opening: downloadsPath), let file = try? top.open(Self.markerName, .reading),
            (try? file.status().kind) == .regular
        else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 256)
        guard let count = try? file.read(into: &buffer, count: buffer.count, at: 0) else { return .nothing }
        if count == 0 { return .approval }
        return VolumeMarker(String(decoding: buffer.prefix(count), as: UTF8.self)).map { .marker($0) } ?? .nothing
    }

    /// Returns whether the downloads directory holds part files.
    package func hasParts() -> Bool {
        (try? Directory(opening: downloadsPath)).map(Self.hasParts) ?? false
    }

    /// Returns whether a directory holds part files in `incomplete`.
    package static func hasParts(in directory: Directory) -> Bool {
        (try? directory.openDirectory("incomplete").entries())?.contains { PartName($0) != nil } ?? false
    }

    /// Writes the marker of the open downloads directory, even if its path leads elsewhere by now. It is durable when
    /// this returns.
    package func write(_ marker: VolumeMarker) throws(FileError) {
        try describing("write", "\(downloadsPath)/\(Self.markerName)") { () throws(SystemError) in
            guard let top = downloads.withLock({ $0.top }) else { throw SystemError(ENOENT) }
            let bytes = Array(marker.text.utf8)
            // All markers have the same length, so one can be overwritten in place.
            if let status = try top.status(of: Self.markerName), status.identity.size == bytes.count {
                let file = try top.open(Self.markerName, .writing)
                unsafe try file.write(bytes.span.bytes, at: 0)
                return try file.synchronizeData()
            }
            // An empty marker approves any directory, so a failed write must not leave one.
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

    /// Tests the directories of files by a small file among the part files.
    /// - Returns: The reason that nothing can be written there; `nil` if that works, or fails for want of space or
    ///   descriptors.
    func writeFailure() -> SystemError? {
        let (incomplete, files) = downloads.withLock { ($0.incomplete, $0.files) }
        do throws(SystemError) { try files.checkWritable() } catch { return error.kind == .transient ? nil : error }
        return Self.writeFailure(in: incomplete)
    }

    /// Tests a folder of finished files by a small file, in the last directory of its path that exists. May wait for a disk.
    /// - Returns: The reason that nothing can be written there; `nil` if that works, or fails for want of descriptors or of
    ///   space for this number of bytes, and whether it has that space.
    func condition(ofFolder folder: String, for bytes: Int64) -> (failure: SystemError?, hasRoom: Bool) {
        var directory = files
        do throws(SystemError) {
            for name in FileNaming.names(ofFolder: folder) {
                guard try directory.status(of: name) != nil else { break }
                directory = try directory.openDirectory(name)
            }
            return (Self.writeFailure(in: directory), try directory.space().hasRoom(for: bytes))
        } catch {
            return (error, false)
        }
    }

    /// Tests the file system of the records by a small file. May wait for a disk.
    /// - Returns: The reason that nothing can be written there; `nil` if that works, or fails for want of space or
    ///   descriptors.
    package func recordsFailure() -> SystemError? { Self.writeFailure(in: top) }

    /// Tests a directory by a small file, which is flushed and removed.
    static func writeFailure(in directory: Directory) -> SystemError? {
        do throws(SystemError) {
            try directory.remove(probeName)
            let file = try directory.open(probeName, .creating)
            unsafe try file.write(([1] as [UInt8]).span.bytes, at: 0)
            try file.synchronize()
            try directory.remove(probeName)
            return nil
        } catch {
            let error = directory.cause(of: error)
            _ = try? directory.remove(probeName)
            return [.outOfSpace, .transient].contains(error.kind) ? nil : error
        }
    }

    private static func flush(_ directory: Directory, _ path: String) throws(StoreError) {
        try naming(path) { () throws(SystemError) in try directory.synchronize() }
    }

    /// Returns the size of the file system in bytes; 0 if it is unknown.
    package func capacity() -> Int64 { (try? top.space().size) ?? 0 }

    /// Returns the name of the directory in its fleet. The name is created on the first call, and kept in a file.
    package func node() throws(StoreError) -> String {
        try Self.naming("\(path)/node") { () throws(SystemError) in
            if let kept = try top.contents(of: "node", limit: RecordID.length),
                let id = RecordID(String(decoding: kept, as: UTF8.self))
            {
                return id.description
            }
            var random = SystemRandom()
            var identifiers = RecordIDGenerator()
            let name = identifiers.next(now: .now(), using: &random).description
            try top.write(Array(name.utf8), to: "node")
            return name
        }
    }

    /// Throws `.unavailable` with the reason if the directory has an entry of that name.
    package func refuse(having name: String, _ reason: String) throws(StoreError) {
        if (try? top.status(of: name)) != nil { throw .unavailable(path: path, reason: reason) }
    }

    /// A warning for each directory in which other users could exchange files, unless it is private. Volumes of
    /// containers often are such directories. The operator has named them, so they are used nevertheless.
    package var warnings: [String] {
        let unprotected = isPrivate ? [] : [(top, path)]
        let apart = downloads.withLock { $0.top }.map { [($0, downloadsPath)] } ?? []
        return (unprotected + apart).compactMap { directory, path in
            guard let status = try? directory.status() else { return nil }
            if !status.isOwn { return "\(path) belongs to another user (\(status.owner)), who could exchange its files" }
            return status.permissions & 0o002 == 0 ? nil : "other users may write to \(path), and could exchange its files"
        }
    }

    deinit {
        // Closing is not enough: a child process has copies of the descriptors until it executes its program.
        release()
    }

    /// Releases the locks, so that another process can use the directory while this value still lives.
    package func release() {
        top.unlock()
        downloads.withLock { $0.top }?.unlock()
    }

    /// Returns the reason why the records seem to be lost, with the ways out; `nil` if they are there, or never were.
    ///
    /// A start without records would remove all part files. The first start creates everything else after the records, so
    /// a crash in between loses none.
    /// - Parameter isUnused: Whether the file was opened, and has never had a record.
    package func recordLoss(isUnused: Bool = false) -> String? {
        let file = try? top.status(of: Self.databaseName)
        if let file, file.kind != .regular || file.identity.size > 0 && !isUnused { return nil }
        let hasNoBytes = file != nil && !isUnused
        let hasFiles = ["incomplete", "files", "in-transfer"].contains { name in (try? top.status(of: name)) != nil }
        guard hasNoBytes ? hasFiles : Self.hasParts(in: top) else { return nil }
        let finding =
            isUnused ? "has no records (was its pawl.sqlite-wal lost?)" : hasNoBytes ? "has no bytes" : "is missing"
        return "it \(finding), and \(hasNoBytes ? "files are beside it" : "'incomplete' has part files"): "
            + "restore it from a backup, or begin new records with `pawl check --repair`, which removes part files, "
            + "or give an empty directory"
    }

    /// Creates the record file so that only its owner can read it, because it holds request headers with secrets.
    /// SQLite itself would follow the umask. Its companion files copy the mode.
    /// - Throws: `.unavailable`.
    package func prepareDatabaseFile() throws(StoreError) {
        try Self.naming(databasePath) { () throws(SystemError) in
            let file = try top.open(Self.databaseName, .keeping)
            try file.setPermissions(0o600)
            try top.synchronize()
            // An earlier run has reserved space beyond the end of the file. It is released for the companion files: see
            // `RecordReserve`.
            let status = try file.status()
            if status.allocated > status.identity.size { try? file.truncate(to: status.identity.size) }
        }
    }

}

extension DataDirectory {
    /// Adds the path to the error of a failed system call.
    private static func naming<Value>(_ path: String, _ body: () throws(SystemError) -> Value) throws(StoreError) -> Value {
        do throws(SystemError) { return try body() } catch { throw unavailable(path, error.number) }
    }

    private static func unavailable(_ path: String, _ error: Int32 = errno) -> StoreError {
        .unavailable(path: path, reason: SystemError(error).description)
    }

    /// Removes slashes at the end of a path.
    private static func trimmed(_ path: String) throws(StoreError) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty else { throw .unavailable(path: path, reason: "no directory is named") }
        return path
    }

    /// Returns the absolute path in a canonical spelling, so that it can be recognised. Links are not followed, because
    /// they may lead elsewhere later.
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

    /// Locks a directory.
    /// - Parameter held: Another directory that is locked already. If it is the same directory, its lock is enough.
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

    /// Creates the directory and its missing parents.
    /// - Parameter permissions: The mode of each directory that is created; `nil` for access by its owner only.
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
        // The new name is durable once its parent is flushed.
        try? Directory(opening: parent).synchronize()
    }

    /// Opens a directory of files, and creates it if it is missing.
    private func directory(_ name: String, in parent: Directory, _ permissions: UInt32?) throws(StoreError) -> Directory {
        let path = "\(downloadsPath)/\(name)"
        if (try? parent.status(of: name))?.kind == .link {
            throw .unavailable(path: path, reason: "it is a link, which is not followed: --downloads-dir keeps files elsewhere")
        }
        let directory = try Self.naming(path) { () throws(SystemError) in
            try parent.makeDirectory(name)
            return try parent.openDirectory(name)
        }
        // Another user may have placed it there before the mode of its parent was restricted.
        if isPrivate, downloadsPath == self.path, let status = try? directory.status(), !status.isOwn {
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
