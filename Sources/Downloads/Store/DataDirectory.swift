import CSystem
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
    var databasePath: String { path + "/pawl.sqlite" }
    /// Part files.
    var incompletePath: String { downloadsPath + "/incomplete" }
    /// Finished files, and nothing else ever.
    var filesPath: String { downloadsPath + "/files" }

    /// The directory of part files. While the downloads directory is away, nothing can be done in it.
    var incomplete: Directory { downloads.withLock { $0.incomplete } }
    /// The directory of finished files. The same holds for it.
    var files: Directory { downloads.withLock { $0.files } }

    /// The directories of files, as far as they are open.
    private struct Downloads {
        var incomplete = Directory.closed
        var files = Directory.closed
        /// The downloads directory, locked, if it is another than the data directory.
        var top: FileDescriptor?
    }

    /// The file in a downloads directory that tells it from a bare mount point.
    static let markerName = ".pawl"

    private let descriptor: FileDescriptor
    private let downloads = Locked(Downloads())

    /// Makes the directory and those inside it where they are missing, readable by the owner only, and takes its lock.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - downloadsPath: where part files and finished files are kept instead, such as on another volume. It is locked as well: no
    ///     second service gets it, whatever its records are.
    ///   - permissions: what finished files and their directories are to be readable for.
    ///   - opensDownloads: whether the directories of files are opened as well. If not, ``openDownloads()`` does it.
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    init(
        path: String, downloads downloadsPath: String? = nil, permissions: FilePermissions = FilePermissions(),
        opensDownloads: Bool = true
    ) throws(StoreError) {
        self.permissions = permissions
        self.path = try Self.trimmed(path)
        self.downloadsPath = try downloadsPath.map(Self.absolute) ?? self.path
        // Whoever may read the files has to get to them.
        try Self.makeDirectories(self.path, downloadsPath == nil ? permissions.directory : nil)
        descriptor = try Self.locked(self.path)
        if opensDownloads { try openDownloads() }
    }

    /// Makes the directories of files where they are missing, opens them, and takes the lock of the directory that they are in.
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    func openDownloads() throws(StoreError) {
        var opened = Downloads()
        if downloadsPath != path {
            try Self.makeDirectories(downloadsPath, permissions.directory)
            opened.top = try Self.locked(downloadsPath, besides: descriptor)
        }
        // The directory may be somebody else's idea (a mounted volume): its mode is not ours to change, but these are ours.
        opened.incomplete = try Self.directory(incompletePath, nil)
        opened.files = try Self.directory(filesPath, permissions.directory)
        // Their names last once the directory that they are in is on the disk.
        try Self.flush(opened.top ?? descriptor, downloadsPath)
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
            (held.device, held.inode) == (found.device, found.inode)
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
            guard let held = downloads.withLock({ $0.top }) else { throw SystemError(ENOENT) }
            let top = Directory(held)
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

    /// Flushes a directory. File systems that cannot have nothing more to offer.
    private static func flush(_ directory: FileDescriptor, _ path: String) throws(StoreError) {
        do throws(SystemError) {
            try directory.synchronize()
        } catch {
            if !error.isUnsupported { throw unavailable(path, error.number) }
        }
    }

    /// Bytes that the file system has, free or not; 0 if it does not tell.
    func capacity() -> Int64 { (try? FileSystemSpace(at: path).size) ?? 0 }

    /// Names the directory among those of a fleet: made up when it is first asked for, and kept in a file.
    func node() throws(StoreError) -> String {
        let path = self.path + "/node"
        do throws(SmallFile.Failure) {
            if let kept = DownloadID(String(decoding: try SmallFile.read(path, limit: DownloadID.length), as: UTF8.self)) {
                return kept.description
            }
        } catch {
            guard error.isMissing else { throw .unavailable(path: path, reason: error.description) }
        }
        var random = SystemRandom()
        var identifiers = DownloadIDGenerator()
        let name = identifiers.next(now: .now(), using: &random).description
        do throws(SmallFile.Failure) {
            try SmallFile.write(Array(name.utf8), to: path)
        } catch {
            throw .unavailable(path: path, reason: error.description)
        }
        return name
    }

    /// Refuses the directory if it has a file of that name.
    func refuse(having name: String, _ reason: String) throws(StoreError) {
        var status = stat()
        if unsafe stat(path + "/" + name, &status) == 0 { throw .unavailable(path: path, reason: reason) }
    }

    deinit {
        // Closing is not enough: a child process that is being made has copies of the descriptors until it begins.
        release()
    }

    /// Lets another instance have the directory although this value still lives.
    func release() {
        _ = pawl_unlock(descriptor.number)
        if let top = downloads.withLock({ $0.top }) { _ = pawl_unlock(top.number) }
    }

    /// Creates the record file readable by the owner only, since it holds request headers with secrets: left to itself,
    /// SQLite would follow the umask. Its companion files copy the mode.
    func prepareDatabaseFile() throws(StoreError) {
        let file = unsafe pawl_open(databasePath, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.unavailable(databasePath) }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0 else { throw Self.unavailable(databasePath) }
        try Self.flush(descriptor, databasePath)
        // Room that an earlier run has left behind the file's end is for the companion files now: see `RecordReserve`.
        var status = stat()
        if unsafe fstat(file, &status) == 0, Int64(status.st_blocks) * 512 > Int64(status.st_size) {
            _ = ftruncate(file, status.st_size)
        }
    }
}

extension DataDirectory {
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

    /// Opens a directory and takes its lock.
    /// - Parameter held: another that is locked already; if that is the same one, its lock is enough.
    private static func locked(_ path: String, besides held: FileDescriptor? = nil) throws(StoreError) -> FileDescriptor {
        let descriptor = FileDescriptor(owning: unsafe pawl_open(path, O_RDONLY | O_DIRECTORY, 0))
        guard descriptor.number >= 0 else { throw unavailable(path) }
        if let held = try? held?.status().identity, let found = try? descriptor.status().identity,
            (held.device, held.inode) == (found.device, found.inode)
        {
            return descriptor
        }
        guard pawl_lock_exclusive(descriptor.number) == 0 else {
            let error = errno
            if error == EWOULDBLOCK { throw .inUse(path: path) }
            throw unavailable(path, error)
        }
        return descriptor
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
        try makeDirectory(path)
        if let permissions { try set(permissions, of: path) }
        // The new name lasts once the directory that holds it is written.
        let holder = unsafe pawl_open(parent, O_RDONLY | O_DIRECTORY, 0)
        guard holder >= 0 else { return }
        _ = fsync(holder)
        close(holder)
    }

    private static func directory(_ path: String, _ permissions: UInt32?) throws(StoreError) -> Directory {
        try makeDirectory(path)
        if let permissions { try set(permissions, of: path) }
        do throws(SystemError) { return try Directory(opening: path) } catch { throw unavailable(path, error.number) }
    }

    private static func set(_ permissions: UInt32, of path: String) throws(StoreError) {
        do throws(SystemError) {
            try Directory(opening: path).setPermissions(permissions)
        } catch {
            throw .unavailable(path: path, reason: "\(error): --directory-mode asks for another mode than it has")
        }
    }

    private static func makeDirectory(_ path: String) throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw unavailable(path) }
    }
}
