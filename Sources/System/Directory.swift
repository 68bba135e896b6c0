internal import CSystem
internal import Glibc

/// An open directory and its entries.
///
/// Names denote entries, never paths, and symbolic links among the entries are not followed. So a user who
/// creates a link cannot redirect an open, a write or a removal. The value refers to the same directory even if its
/// path changes.
public final class Directory: Sendable {
    let descriptor: FileDescriptor

    /// Opens a directory by its path.
    public init(opening path: String) throws(SystemError) {
        descriptor = FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open(path, O_RDONLY | O_DIRECTORY, 0) })
    }

    /// Opens a directory by its path for the use of its entries. Listing, locking and syncing it fail, since they
    /// require an open for reading.
    public init(reaching path: String) throws(SystemError) {
        descriptor = FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_name_at(AT_FDCWD, path + "/.") })
    }

    /// A directory that is not open: every operation fails.
    public static let closed = Directory(FileDescriptor(owning: -1))

    /// Creates a directory from an open descriptor.
    public init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Opens a directory in this one.
    public func openDirectory(_ name: String) throws(SystemError) -> Directory {
        try check(name)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        return Directory(
            FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_at(descriptor.number, name, flags, 0) }))
    }

    /// Opens a directory in this one if that needs no disk access; `nil` if it does, or on any error. Event loops may
    /// call this.
    public func openCachedDirectory(_ name: String) -> Directory? {
        guard Self.isName(name) else { return nil }
        let number = unsafe pawl_open_cached_at(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return number < 0 ? nil : Directory(FileDescriptor(owning: number))
    }

    /// Opens an entry of any kind except a symbolic link.
    public func open(_ name: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        try check(name)
        let flags = access.flags | O_NOFOLLOW
        return FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_at(descriptor.number, name, flags, 0o600) })
    }

    /// Opens an entry for reading if that needs no disk access; `nil` if it does, or on any error. Event loops may call
    /// this.
    public func openCached(_ name: String) -> FileDescriptor? {
        guard Self.isName(name) else { return nil }
        let number = unsafe pawl_open_cached_at(descriptor.number, name, FileAccess.reading.flags | O_NOFOLLOW)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }

    /// Opens an entry without access to its content (O_PATH). A removed file keeps its disk space until the descriptor
    /// is closed.
    public func hold(_ name: String) throws(SystemError) -> FileDescriptor {
        try check(name)
        return FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_name_at(descriptor.number, name) })
    }

    /// The status of the directory itself.
    public func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// The status of an entry, or of the link itself if it is one; `nil` if there is none.
    public func status(of name: String) throws(SystemError) -> FileStatus? {
        try check(name)
        var status = stat()
        guard unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            let error = SystemError.last
            if error.kind == .notFound { return nil }
            throw error
        }
        return FileStatus(status)
    }

    /// Locks the directory until `unlock` or the end of this value.
    /// - Returns: False if another process or value holds the lock.
    public func lock() throws(SystemError) -> Bool {
        do throws(SystemError) {
            try SystemError.retrying { pawl_lock_exclusive(descriptor.number) }
            return true
        } catch {
            if error.number == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Releases the lock.
    public func unlock() { _ = pawl_unlock(descriptor.number) }

    /// The path of an entry, for libraries that take only paths. It refers to the descriptor, so this value must live
    /// as long as the path is used.
    public func descriptorPath(of name: String) throws(SystemError) -> String {
        try check(name)
        return "/proc/self/fd/\(descriptor.number)/\(name)"
    }

    /// The identities of the directory and its ancestors, from the innermost to the root. It has fewer if one of them
    /// is not accessible.
    public func lineage() throws(SystemError) -> [FileIdentity] {
        var last = try descriptor.status().identity
        var found = [last]
        var path = ".."
        while true {
            // fstatat needs no permission to read an ancestor, unlike opening it.
            var status = stat()
            guard unsafe fstatat(descriptor.number, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return found }
            let next = FileStatus(status).identity
            // The root is its own parent.
            if next.isSameFile(as: last) { return found }
            found.append(next)
            last = next
            path += "/.."
        }
    }

    /// The space of its file system.
    public func space() throws(SystemError) -> FileSystemSpace { try descriptor.space() }

    /// The names of all entries except `.` and `..`.
    public func entries() throws(SystemError) -> [String] {
        // A descriptor of its own, since all readers of one open directory share its offset.
        let number = try SystemError.retrying { unsafe pawl_open_at(descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0) }
        guard let stream = unsafe fdopendir(number) else {
            let error = SystemError.last
            close(number)
            throw error
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw .last }
                return names
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Removes an entry that is not a directory.
    /// - Returns: Whether the entry existed.
    @discardableResult
    public func remove(_ name: String) throws(SystemError) -> Bool {
        try check(name)
        if unsafe unlinkat(descriptor.number, name, 0) == 0 { return true }
        let error = SystemError.last
        if error.kind == .notFound { return false }
        throw error
    }

    /// Creates a directory that only its owner can read, unless an entry of that name exists.
    /// - Returns: Whether the directory was created.
    @discardableResult
    public func makeDirectory(_ name: String) throws(SystemError) -> Bool {
        try check(name)
        if unsafe mkdirat(descriptor.number, name, 0o700) == 0 { return true }
        let error = SystemError.last
        if error.kind != .alreadyExists { throw error }
        return false
    }

    /// Sets the permissions of the directory, regardless of the process's umask. The set-group-ID bit, which gives new
    /// entries the directory's group, is kept.
    public func setPermissions(_ permissions: UInt32) throws(SystemError) {
        let now = try descriptor.status().permissions
        let wanted = permissions | now & UInt32(S_ISGID)
        if now != wanted { try descriptor.setPermissions(wanted) }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ name: String) throws(SystemError) {
        try check(name)
        guard unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) == 0 else { throw .last }
    }

    /// Gives a file a second name, which must be free.
    public func link(_ name: String, to other: Directory, as newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        guard unsafe linkat(descriptor.number, name, other.descriptor.number, newName, 0) == 0 else { throw .last }
    }

    /// Renames an entry, and replaces an entry that has the new name.
    public func rename(_ name: String, to newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        guard unsafe renameat(descriptor.number, name, descriptor.number, newName) == 0 else { throw .last }
    }

    /// Renames an entry into another directory, and replaces an entry that has the new name there.
    public func rename(_ name: String, to other: Directory, as newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        guard unsafe renameat(descriptor.number, name, other.descriptor.number, newName) == 0 else { throw .last }
    }

    /// Checks that permissions and the file system's mode allow new entries here. Creates none.
    public func checkWritable() throws(SystemError) {
        guard unsafe faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw .last }
    }

    /// Renames an entry.
    /// - Throws: `alreadyExists` if the new name is taken.
    public func renameExclusively(_ name: String, to other: Directory, as newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        let result = unsafe pawl_rename_exclusive_at(descriptor.number, name, other.descriptor.number, newName)
        guard result == 0 else { throw .last }
    }

    /// Renames an entry into another directory, unless an entry there has the new name.
    /// - Returns: Whether the name was free.
    public func renameIfFree(_ name: String, to other: Directory, as newName: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try renameExclusively(name, to: other, as: newName)
            return true
        } catch {
            if error.kind == .alreadyExists { return false }
            guard error.leavesOtherWays else { throw error }
        }
        // The file system cannot rename exclusively. An empty file reserves the name, and the rename replaces it.
        do throws(SystemError) {
            _ = try other.open(newName, .creating)
        } catch {
            if error.kind == .alreadyExists { return false }
            throw error
        }
        do throws(SystemError) {
            try rename(name, to: other, as: newName)
            return true
        } catch {
            _ = try? other.remove(newName)
            throw error
        }
    }

    /// The first `limit` bytes of a file; `nil` if it does not exist.
    public func contents(of name: String, limit: Int = 64 * 1024) throws(SystemError) -> [UInt8]? {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try open(name, .reading)
        } catch {
            if error.kind == .notFound { return nil }
            throw error
        }
        var bytes = [UInt8](repeating: 0, count: limit)
        bytes.removeLast(limit - (try file.read(into: &bytes, count: limit, at: 0)))
        return bytes
    }

    /// Creates or replaces a file that only its owner can read. The previous file remains until all bytes are written.
    public func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let temporary = name + ".new"
        // An earlier process may have left a file of this name, and another user may have made a link.
        try remove(temporary)
        do throws(SystemError) {
            let file = try open(temporary, .creating)
            unsafe try file.write(bytes.span.bytes, at: 0)
            try rename(temporary, to: name)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
    }

    /// Waits until the entries are on the disk. It is no error if the file system cannot sync a directory.
    public func synchronize() throws(SystemError) {
        do throws(SystemError) {
            try descriptor.synchronize()
        } catch {
            if error.meansFailure { throw error }
        }
    }

    /// Returns an error of a call, or ENOSPC in place of it if the file system is full.
    public func cause(of error: SystemError) -> SystemError { descriptor.cause(of: error) }

    /// Opens a new file without a name, for reading and writing. It gets one by ``name(_:as:)``, or vanishes.
    public func openUnnamed() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try SystemError.retrying { pawl_open_unnamed_at(descriptor.number, 0o600) })
    }

    /// Gives a file without a name one in this directory, which must be free.
    public func name(_ file: FileDescriptor, as name: String) throws(SystemError) {
        try check(name)
        let path = "/proc/self/fd/\(file.number)"
        guard unsafe linkat(AT_FDCWD, path, descriptor.number, name, AT_SYMLINK_FOLLOW) == 0 else { throw .last }
    }

    /// Marks the directory with an extended attribute, which stays with it and is copied with it.
    /// - Returns: Whether the file system has extended attributes.
    public func mark(_ attribute: String, as value: String) -> Bool {
        unsafe pawl_set_attribute(descriptor.number, attribute, value) == 0
    }

    /// Returns whether the directory has the mark with this value of at most 255 bytes.
    public func isMarked(_ attribute: String, as value: String) -> Bool {
        unsafe pawl_has_attribute(descriptor.number, attribute, value)
    }

    /// The time at which the directory was made, in nanoseconds since 1970; `nil` if the file system has none. No program
    /// can set it.
    public func birthTime() -> Int64? {
        var time: Int64 = 0
        return unsafe pawl_birth_time(descriptor.number, &time) == 0 ? time : nil
    }

    /// Waits until everything written to the file system is on the disk.
    public func synchronizeFileSystem() throws(SystemError) {
        try descriptor.synchronizeFileSystem()
    }

    /// Whether the text can be the name of an entry: neither a path nor `.` or `..`.
    private static func isName(_ name: String) -> Bool {
        guard !name.isEmpty, name != ".", name != ".." else { return false }
        // The C library searches many bytes at once.
        return unsafe name.utf8.span.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe memchr($0, 0x2f, bytes.count) == nil && memchr($0, 0, bytes.count) == nil }
                ?? false
        }
    }

    private func check(_ name: String) throws(SystemError) {
        guard Self.isName(name) else { throw .invalidName }
    }
}
