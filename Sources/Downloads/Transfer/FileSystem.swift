internal import CSystem
internal import Glibc

/// Operations on names of files, which no open file is needed for.
enum FileSystem {
    /// Names of the entries of a directory, but for `.` and `..`.
    static func entries(of directory: String) throws(FileError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw FileError(operation: "list", path: directory, code: errno) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Size, link count and inode of a regular file; `nil` if there is none.
    static func status(of path: String) -> FileStatus? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileStatus(size: Int64(status.st_size), links: UInt64(status.st_nlink), inode: UInt64(status.st_ino))
    }

    /// Whether anything bears this name.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Removes a file; one that is not there is fine.
    static func remove(_ path: String) throws(FileError) {
        if unsafe unlink(path) != 0, errno != ENOENT { throw FileError(operation: "remove", path: path, code: errno) }
    }

    /// Makes a directory that only the owner can read; one that is there is fine.
    static func makeDirectory(_ path: String) throws(FileError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError(operation: "make", path: path, code: errno) }
    }

    /// Renames a file over another.
    static func replace(_ path: String, with newer: String) throws(FileError) {
        if unsafe rename(newer, path) != 0 { throw FileError(operation: "rename", path: newer, code: errno) }
    }

    /// Gives a part file a second name under `files`, in one step, never over another file.
    ///
    /// A link, not a rename: until the store knows of the publication the part file stays, so that a crash in between is
    /// recognised by both names leading to one inode. File systems without links get a rename.
    /// - Returns: whether the name was free.
    static func publish(_ part: String, as file: String) throws(FileError) -> Bool {
        if unsafe link(part, file) == 0 { return true }
        if errno == EEXIST { return false }
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EXDEV].contains(errno) else {
            throw FileError(operation: "publish", path: file, code: errno)
        }
        if unsafe pawl_rename_exclusive(part, file) == 0 { return true }
        if errno == EEXIST { return false }
        throw FileError(operation: "publish", path: file, code: errno)
    }

    /// Waits until the directory's entries are on the disk.
    static func synchronize(_ directory: String) throws(FileError) {
        let descriptor = unsafe pawl_open(directory, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw FileError(operation: "open", path: directory, code: errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw FileError(operation: "flush", path: directory, code: errno) }
    }
}

/// What the file system says of a regular file.
struct FileStatus: Sendable, Equatable {
    /// Bytes.
    let size: Int64
    /// Names that lead to it.
    let links: UInt64
    let inode: UInt64
}
