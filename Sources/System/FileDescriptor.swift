internal import CSystem
internal import Glibc
internal import Synchronization

/// An open descriptor, which is closed when its last reference is released.
///
/// The operations on files are thin system calls that continue after signals and after short reads and writes.
public final class FileDescriptor: Sendable {
    /// The disk space in bytes from which freeing takes long.
    private static let muchRoom: Int64 = 16 << 20

    private let open: Atomic<Int32>

    /// The system's number of the descriptor; −1 once it is closed. Other code must not close it.
    public var number: Int32 { open.load(ordering: .relaxed) }

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) {
        open = Atomic(number)
    }

    /// Opens a path; symbolic links are followed.
    public convenience init(opening path: String, _ access: FileAccess = .reading) throws(SystemError) {
        self.init(owning: try SystemError.retrying { unsafe pawl_open(path, access.flags, 0o600) })
    }

    deinit {
        let number = number
        // A file system takes seconds to free some GiB, and the last close of a removed file waits for that.
        if number >= 0, isLastOfMuch {
            BlockingExecutor.freeing.submit { Glibc.close(number) }
        } else {
            close()
        }
    }

    /// Closes the descriptor immediately: when this returns, a removed file's disk space is free. The value cannot be
    /// used afterwards.
    public func close() {
        let number = open.exchange(-1, ordering: .relaxed)
        if number >= 0 { Glibc.close(number) }
    }

    /// Whether closing it frees much disk space: the file has no name left, and takes at least 16 MiB.
    public var isLastOfMuch: Bool {
        guard let status = try? status() else { return false }
        return status.links == 0 && status.allocated >= Self.muchRoom
    }

    /// The status of the file.
    public func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    /// Reads up to `count` bytes at an offset into the start of a buffer. It reads fewer bytes if the buffer or the
    /// file ends.
    /// - Returns: The number of bytes read.
    public func read(into buffer: inout [UInt8], count: Int, at offset: Int64) throws(SystemError) -> Int {
        let wanted = min(count, buffer.count)
        let result = unsafe buffer.withUnsafeMutableBytes { bytes -> Result<Int, SystemError> in
            do throws(SystemError) {
                return .success(try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]), at: offset))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Reads bytes at an offset until the buffer is full or the file ends.
    /// - Returns: The number of bytes read.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let got = try SystemError.retrying {
                unsafe pread(number, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
            }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Whether the file has these bytes at an offset. A file that ends before them has not.
    public func holds(_ bytes: RawSpan, at offset: Int64) throws(SystemError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: min(64 << 10, bytes.byteCount))
        for start in stride(from: 0, to: bytes.byteCount, by: 64 << 10) {
            let piece = bytes.extracting(start..<min(start + buffer.count, bytes.byteCount))
            guard try read(into: &buffer, count: piece.byteCount, at: offset + Int64(start)) == piece.byteCount else {
                return false
            }
            let isEqual = unsafe piece.withUnsafeBytes { wanted in
                unsafe buffer.withUnsafeBytes { found in
                    guard let left = wanted.baseAddress, let right = found.baseAddress else { return true }
                    return unsafe memcmp(left, right, wanted.count) == 0
                }
            }
            if !isEqual { return false }
        }
        return true
    }

    /// Writes all bytes at an offset. A short write is continued, so that a full disk is reported as an error.
    public func write(_ bytes: RawSpan, at offset: Int64) throws(SystemError) {
        let failure = unsafe bytes.withUnsafeBytes { buffer -> SystemError? in
            var done = 0
            while done < buffer.count {
                let written = unsafe pwrite(
                    number, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
                if written >= 0 {
                    done += written
                } else if errno != EINTR {
                    return .last
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Reserves blocks up to `length` bytes and extends the file to that length. So a full disk is reported before the
    /// bytes arrive.
    /// - Returns: Whether the space is reserved; false on file systems that cannot reserve.
    public func preallocate(_ length: Int64) throws(SystemError) -> Bool {
        guard length > 0 else { return true }
        do throws(SystemError) {
            try SystemError.retrying { pawl_preallocate(number, 0, length) }
            return true
        } catch {
            // File systems report various errors for an operation that they lack.
            guard error.meansFailure else { return false }
            throw error
        }
    }

    /// Frees the blocks of a range, which then reads as zeros. Errors are ignored, since some file systems cannot do
    /// it.
    public func punchHole(_ range: Range<Int64>) {
        _ = pawl_punch_hole(number, range.lowerBound, range.upperBound - range.lowerBound)
    }

    /// Truncates or extends the file to `length` bytes.
    public func truncate(to length: Int64) throws(SystemError) {
        try SystemError.retrying { ftruncate(number, off_t(length)) }
    }

    /// Sets the permissions of the file (fchmod(2)), regardless of the process's umask.
    public func setPermissions(_ permissions: UInt32) throws(SystemError) {
        try SystemError.retrying { fchmod(number, mode_t(permissions)) }
    }

    /// Sets the time of the last write in seconds since 1970 (futimens(2)). The next write sets it again.
    public func setModified(_ seconds: Int64) throws(SystemError) {
        try SystemError.retrying { pawl_set_modified(number, seconds) }
    }

    /// Waits until the bytes written so far, and the metadata to find them, are on the disk (fdatasync(2)).
    public func synchronizeData() throws(SystemError) {
        try SystemError.retrying { fdatasync(number) }
    }

    /// Waits until the whole file, or the directory's entries, are on the disk (fsync(2)).
    public func synchronize() throws(SystemError) {
        try SystemError.retrying { fsync(number) }
    }

    /// Waits until everything written to the file system is on the disk (syncfs(2)).
    public func synchronizeFileSystem() throws(SystemError) {
        try SystemError.retrying { pawl_syncfs(number) }
    }

    /// Waits for the writes of the file that the system has begun (sync_file_range(2)). The disk's own cache is not
    /// flushed.
    ///
    /// This reports bytes that could not be written. A sync of the file system may not: it reports each failure only
    /// once, to the first caller, and none from before its descriptor was opened.
    public func awaitWriteBack() throws(SystemError) {
        try SystemError.retrying { pawl_await_write_back(number) }
    }

    /// The space of its file system.
    public func space() throws(SystemError) -> FileSystemSpace {
        try FileSystemSpace(of: number)
    }

    /// Returns an error of a call, or ENOSPC in place of it if the file system is full. Some report another one then:
    /// sshfs EIO, securefs EPERM.
    public func cause(of error: SystemError) -> SystemError {
        guard error.kind != .outOfSpace, let space = try? space(), space.isFull else { return error }
        return SystemError(ENOSPC)
    }
}

/// The mode in which a file is opened.
public enum FileAccess: Sendable {
    /// For reading.
    case reading
    /// For reading and writing.
    case writing
    /// For reading and writing, as a new file that only its owner can read. An existing entry of that name is an error.
    case creating
    /// For reading and writing. A missing file is created, with access for its owner only. Links are not followed.
    case keeping

    // O_NONBLOCK: opening a pipe must not wait for its other end. It has no effect on regular files.
    var flags: Int32 {
        switch self {
        case .reading: O_RDONLY | O_NONBLOCK
        case .writing: O_RDWR | O_NONBLOCK
        case .creating: O_RDWR | O_NONBLOCK | O_CREAT | O_EXCL
        case .keeping: O_RDWR | O_NONBLOCK | O_CREAT | O_NOFOLLOW
        }
    }
}
