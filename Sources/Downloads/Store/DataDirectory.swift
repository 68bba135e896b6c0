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

    /// The directory of part files.
    let incomplete: Directory
    /// The directory of finished files.
    let files: Directory

    private let descriptor: FileDescriptor
    /// That of the directory of files, if it is another.
    private let downloadsDescriptor: FileDescriptor?

    /// Makes the directory and those inside it where they are missing, readable by the owner only, and takes its lock.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - downloadsPath: where part files and finished files are kept instead, such as on another volume. It is locked as well: no
    ///     second service gets it, whatever its records are.
    ///   - permissions: what finished files and their directories are to be readable for.
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    init(
        path: String, downloads downloadsPath: String? = nil, permissions: FilePermissions = FilePermissions()
    ) throws(StoreError) {
        self.permissions = permissions
        self.path = try Self.trimmed(path)
        self.downloadsPath = try downloadsPath.map(Self.trimmed) ?? self.path
        // Whoever may read the files has to get to them.
        try Self.makeDirectories(self.path, downloadsPath == nil ? permissions.directory : nil)
        descriptor = try Self.locked(self.path)
        if downloadsPath == nil {
            downloadsDescriptor = nil
        } else {
            try Self.makeDirectories(self.downloadsPath, permissions.directory)
            downloadsDescriptor = try Self.locked(self.downloadsPath, besides: descriptor)
        }
        // The directory may be somebody else's idea (a mounted volume): its mode is not ours to change, but these are ours.
        incomplete = try Self.directory(self.downloadsPath + "/incomplete", nil)
        files = try Self.directory(self.downloadsPath + "/files", permissions.directory)
        for (held, path) in [(descriptor, self.path), (downloadsDescriptor ?? descriptor, self.downloadsPath)] {
            guard fsync(held.number) == 0 else { throw Self.unavailable(path) }
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

    /// Lets another instance have the directory although this value still lives.
    func release() {
        _ = pawl_unlock(descriptor.number)
        if let downloadsDescriptor { _ = pawl_unlock(downloadsDescriptor.number) }
    }

    /// Creates the record file readable by the owner only, since it holds request headers with secrets: left to itself,
    /// SQLite would follow the umask. Its companion files copy the mode.
    func prepareDatabaseFile() throws(StoreError) {
        let file = unsafe pawl_open(databasePath, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.unavailable(databasePath) }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0, fsync(descriptor.number) == 0 else { throw Self.unavailable(databasePath) }
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
            throw unavailable(path, error.number)
        }
    }

    private static func makeDirectory(_ path: String) throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw unavailable(path) }
    }
}
