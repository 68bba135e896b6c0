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
    /// The records.
    var databasePath: String { path + "/pawl.sqlite" }
    /// Part files.
    var incompletePath: String { path + "/incomplete" }
    /// Finished files, and nothing else ever.
    var filesPath: String { path + "/files" }

    /// The directory of part files.
    let incomplete: Directory
    /// The directory of finished files.
    let files: Directory

    private let descriptor: FileDescriptor

    /// Makes the directory and those inside it where they are missing, readable by the owner only, and takes its lock.
    ///
    /// - Throws: `StoreError.inUse`, `.unavailable`.
    init(path: String) throws(StoreError) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty else { throw .unavailable(path: path, reason: "no directory is named") }
        self.path = path
        try Self.makeDirectories(path)
        descriptor = FileDescriptor(owning: unsafe pawl_open(path, O_RDONLY | O_DIRECTORY, 0))
        guard descriptor.number >= 0 else { throw Self.unavailable(path) }
        guard pawl_lock_exclusive(descriptor.number) == 0 else {
            let error = errno
            if error == EWOULDBLOCK { throw .inUse(path: path) }
            throw Self.unavailable(path, error)
        }
        // The directory may be somebody else's idea (a mounted volume): its mode is not ours to change, but these are ours.
        incomplete = try Self.directory(path + "/incomplete")
        files = try Self.directory(path + "/files")
        guard fsync(descriptor.number) == 0 else { throw Self.unavailable(path) }
    }

    /// Bytes that the file system has, free or not; 0 if it does not tell.
    func capacity() -> Int64 { (try? FileSystemSpace(at: path).size) ?? 0 }

    /// Lets another instance have the directory although this value still lives.
    func release() {
        _ = pawl_unlock(descriptor.number)
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

    /// Makes the directory and whatever leads to it.
    private static func makeDirectories(_ path: String) throws(StoreError) {
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw unavailable(path, ENOTDIR) }
            return
        }
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if parent != ".", parent != "/" { try makeDirectories(parent) }
        try makeDirectory(path)
        // The new name lasts once the directory that holds it is written.
        let holder = unsafe pawl_open(parent, O_RDONLY | O_DIRECTORY, 0)
        guard holder >= 0 else { return }
        _ = fsync(holder)
        close(holder)
    }

    private static func directory(_ path: String) throws(StoreError) -> Directory {
        try makeDirectory(path)
        do throws(SystemError) { return try Directory(opening: path) } catch { throw unavailable(path, error.number) }
    }

    private static func makeDirectory(_ path: String) throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw unavailable(path) }
    }
}
