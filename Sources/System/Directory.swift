internal import CSystem
internal import Glibc

/// An open directory, and what can be done with its entries.
///
/// Names are those of entries, never paths, and symbolic links among them are never followed: whoever can put one there doesn't get
/// anything else opened, written to or removed. The directory stays the same one when something else gets its path.
public final class Directory: Sendable {
    let descriptor: FileDescriptor

    /// Opens a directory by its path.
    public init(opening path: String) throws(SystemError) {
        descriptor = FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open(path, O_RDONLY | O_DIRECTORY, 0) })
    }

    /// Opens a directory by its path for the use of its entries. Listing, locking and flushing it fail: they take the right to read it.
    public init(reaching path: String) throws(SystemError) {
        descriptor = FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_name_at(AT_FDCWD, path + "/.") })
    }

    /// A directory that is not open: whatever is done in it fails.
    public static let closed = Directory(FileDescriptor(owning: -1))

    /// The directory that a descriptor is of.
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

    /// The same if that needs no disk; nil if it does, or fails in any way. An event loop may do this itself.
    public func openCachedDirectory(_ name: String) -> Directory? {
        guard Self.isName(name) else { return nil }
        let number = unsafe pawl_open_cached_at(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        return number < 0 ? nil : Directory(FileDescriptor(owning: number))
    }

    /// Opens an entry. It may be anything but a symbolic link.
    public func open(_ name: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        try check(name)
        let flags = access.flags | O_NOFOLLOW
        return FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_at(descriptor.number, name, flags, 0o600) })
    }

    /// Opens an entry for reading if that needs no disk; nil if it does, or fails in any way. An event loop may do this itself.
    public func openCached(_ name: String) -> FileDescriptor? {
        guard Self.isName(name) else { return nil }
        let number = unsafe pawl_open_cached_at(descriptor.number, name, FileAccess.reading.flags | O_NOFOLLOW)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }

    /// Keeps an entry, without access to what is in it (O_PATH): its room stays taken until the descriptor is closed.
    public func hold(_ name: String) throws(SystemError) -> FileDescriptor {
        try check(name)
        return FileDescriptor(owning: try SystemError.retrying { unsafe pawl_open_name_at(descriptor.number, name) })
    }

    /// What the file system says of the directory itself.
    public func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// What the file system says of an entry, of a link itself; nil if there is none.
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

    /// Keeps others from locking it for as long as this value lives; false if somebody has locked it.
    public func lock() throws(SystemError) -> Bool {
        do throws(SystemError) {
            try SystemError.retrying { pawl_lock_exclusive(descriptor.number) }
            return true
        } catch {
            if error.number == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Ends the lock.
    public func unlock() { _ = pawl_unlock(descriptor.number) }

    /// The path of an entry for libraries that take only paths. It leads through the descriptor, so this value has to live as long as the
    /// path is used.
    public func descriptorPath(of name: String) throws(SystemError) -> String {
        try check(name)
        return "/proc/self/fd/\(descriptor.number)/\(name)"
    }

    /// Which directory it is, and which ones it is in, from the inmost to the root; fewer if not all of them can be looked at.
    public func lineage() throws(SystemError) -> [FileIdentity] {
        var last = try descriptor.status().identity
        var found = [last]
        var path = ".."
        while true {
            // By name rather than opened: whoever may write here need not be able to read what it is in.
            var status = stat()
            guard unsafe fstatat(descriptor.number, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return found }
            let next = FileStatus(status).identity
            // The root is in itself.
            if next.isSameFile(as: last) { return found }
            found.append(next)
            last = next
            path += "/.."
        }
    }

    /// The room on the file system that it is on.
    public func space() throws(SystemError) -> FileSystemSpace { try descriptor.space() }

    /// Names of all entries, but for `.` and `..`.
    public func entries() throws(SystemError) -> [String] {
        // A descriptor of its own: the place up to which a directory was read belongs to what was opened once.
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

    /// Removes an entry that isn't a directory.
    /// - Returns: whether there was one.
    @discardableResult
    public func remove(_ name: String) throws(SystemError) -> Bool {
        try check(name)
        if unsafe unlinkat(descriptor.number, name, 0) == 0 { return true }
        let error = SystemError.last
        if error.kind == .notFound { return false }
        throw error
    }

    /// Makes a directory that only its owner can read; one that is there is fine.
    /// - Returns: whether there was none.
    @discardableResult
    public func makeDirectory(_ name: String) throws(SystemError) -> Bool {
        try check(name)
        if unsafe mkdirat(descriptor.number, name, 0o700) == 0 { return true }
        let error = SystemError.last
        if error.kind != .alreadyExists { throw error }
        return false
    }

    /// Lets exactly these in that the bits of a mode say, whatever the process's umask is. That new entries get the directory's group
    /// (the set-group-ID bit) stays as it is.
    public func setPermissions(_ permissions: UInt32) throws(SystemError) {
        let now = try descriptor.status().permissions
        let wanted = permissions | now & UInt32(S_ISGID)
        if now != wanted { try descriptor.setPermissions(wanted) }
    }

    /// Removes a directory that has no entries.
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

    /// Renames an entry, over another if one has that name.
    public func rename(_ name: String, to newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        guard unsafe renameat(descriptor.number, name, descriptor.number, newName) == 0 else { throw .last }
    }

    /// Renames an entry into another directory, over another entry if one has that name.
    public func rename(_ name: String, to other: Directory, as newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        guard unsafe renameat(descriptor.number, name, other.descriptor.number, newName) == 0 else { throw .last }
    }

    /// Whether entries may be made here, as far as permissions and the file system's mode tell. Makes none.
    public func checkWritable() throws(SystemError) {
        guard unsafe faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw .last }
    }

    /// Renames an entry; the new name must be free.
    public func renameExclusively(_ name: String, to other: Directory, as newName: String) throws(SystemError) {
        try check(name)
        try check(newName)
        let result = unsafe pawl_rename_exclusive_at(descriptor.number, name, other.descriptor.number, newName)
        guard result == 0 else { throw .last }
    }

    /// Renames an entry into another directory, unless an entry has that name there.
    /// - Returns: whether the name was free.
    public func renameIfFree(_ name: String, to other: Directory, as newName: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try renameExclusively(name, to: other, as: newName)
            return true
        } catch {
            if error.kind == .alreadyExists { return false }
            guard error.isUnsupported else { throw error }
        }
        // Without such a call an empty file reserves the name, and is renamed over.
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

    /// The first `limit` bytes of a file; `nil` if there is none.
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

    /// Replaces a file, or makes it, readable for its owner only. What it held before stays there until all is written.
    public func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let temporary = name + ".new"
        // An earlier run may have left a file, and another user a link.
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

    /// Waits until the entries are on the disk. File systems that can't flush a directory (EINVAL, ENOTSUP) have nothing more to offer:
    /// that is no error.
    public func synchronize() throws(SystemError) {
        do throws(SystemError) {
            try descriptor.synchronize()
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }

    /// Waits until everything written to the file system is on the disk.
    public func synchronizeFileSystem() throws(SystemError) {
        try descriptor.synchronizeFileSystem()
    }

    /// Whether that can be the name of an entry: not a path, and not the directory itself or what it is in.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
    }

    private func check(_ name: String) throws(SystemError) {
        guard Self.isName(name) else { throw .invalidName }
    }
}
