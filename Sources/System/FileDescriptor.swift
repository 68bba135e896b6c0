internal import CSystem
internal import Glibc
internal import Synchronization

/// The descriptor of something open, which is closed when the last reference goes.
///
/// What belongs to files is here as thin calls that go on after signals and after short reads and writes.
public final class FileDescriptor: Sendable {
    /// From so many bytes on it takes long to give back the room of a file.
    private static let muchRoom: Int64 = 16 << 20

    private let open: Atomic<Int32>

    /// The system's number for it; −1 once it is closed. Must not be closed by others.
    public var number: Int32 { open.load(ordering: .relaxed) }

    /// Takes over a descriptor that is open.
    public init(owning number: Int32) {
        open = Atomic(number)
    }

    /// Opens a path; symbolic links are followed.
    public convenience init(opening path: String, _ access: FileAccess = .reading) throws(SystemError) {
        self.init(owning: try SystemError.retrying { unsafe pawl_open(path, access.flags, 0o600) })
    }

    deinit {
        let number = number
        // A file system takes seconds to give back some GiB, and whoever closes a removed file last waits for that.
        if number >= 0, isLastOfMuch {
            BlockingExecutor.freeing.submit { Glibc.close(number) }
        } else {
            close()
        }
    }

    /// Closes it now, so that the room of a removed file is there when this returns. It is of no use afterwards.
    public func close() {
        let number = open.exchange(-1, ordering: .relaxed)
        if number >= 0 { Glibc.close(number) }
    }

    /// Whether much room is given back when it is closed: nothing but open files leads to it.
    public var isLastOfMuch: Bool {
        guard let status = try? status() else { return false }
        return status.links == 0 && status.allocated >= Self.muchRoom
    }

    /// What the file system says of the file.
    public func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    /// Reads bytes at an offset into the beginning of a buffer: as many as it takes, or fewer where the file ends.
    /// - Returns: how many.
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
    /// - Returns: how many.
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

    /// Writes all bytes at an offset. A short write goes on where it stopped, so that a full disk shows as its error.
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

    /// Reserves blocks up to `length` bytes, and makes the file that long, so that a full disk shows before the bytes come.
    /// - Returns: whether the room is taken; false on file systems that cannot.
    public func preallocate(_ length: Int64) throws(SystemError) -> Bool {
        guard length > 0 else { return true }
        do throws(SystemError) {
            try SystemError.retrying { pawl_preallocate(number, 0, length) }
            return true
        } catch {
            // EINVAL: what some file systems say to what they don't know.
            if error.kind == .unsupported || error.number == EINVAL { return false }
            throw error
        }
    }

    /// Gives back the blocks of a range, which then reads as zeros. Best effort: some file systems cannot.
    public func punchHole(_ range: Range<Int64>) {
        _ = pawl_punch_hole(number, range.lowerBound, range.upperBound - range.lowerBound)
    }

    /// Cuts or extends the file to `length` bytes.
    public func truncate(to length: Int64) throws(SystemError) {
        try SystemError.retrying { ftruncate(number, off_t(length)) }
    }

    /// Lets exactly these do what the bits of a mode say (fchmod(2)), whatever the process's umask is.
    public func setPermissions(_ permissions: UInt32) throws(SystemError) {
        try SystemError.retrying { fchmod(number, mode_t(permissions)) }
    }

    /// Waits until the bytes written so far are on the disk, with what is needed to find them (fdatasync(2)).
    public func synchronizeData() throws(SystemError) {
        try SystemError.retrying { fdatasync(number) }
    }

    /// Waits until all of the file, or the entries of the directory, are on the disk (fsync(2)).
    public func synchronize() throws(SystemError) {
        try SystemError.retrying { fsync(number) }
    }

    /// Waits until everything written to the file system is on the disk (syncfs(2)).
    public func synchronizeFileSystem() throws(SystemError) {
        try SystemError.retrying { pawl_syncfs(number) }
    }

    /// Waits until the system has written what it has begun to write of the file (sync_file_range(2)), without making a disk empty its
    /// own cache. That tells of bytes that could not be written, which a flush of the file system may not: it says of each failure
    /// once, to whoever asks first, and nothing of those before its descriptor was opened.
    public func awaitWriteBack() throws(SystemError) {
        try SystemError.retrying { pawl_await_write_back(number) }
    }

    /// The room on the file system that it is on.
    public func space() throws(SystemError) -> FileSystemSpace {
        try FileSystemSpace(of: number)
    }
}

/// How a file is opened.
public enum FileAccess: Sendable {
    /// For reading.
    case reading
    /// For reading and writing.
    case writing
    /// A new file, for reading and writing; readable for its owner only. An error if anything has that name.
    case creating
    /// For reading and writing; the file is made, readable for its owner only, if there is none. No link is followed.
    case keeping

    // O_NONBLOCK: opening a pipe must not wait for whoever is at its other end. It means nothing for regular files.
    var flags: Int32 {
        switch self {
        case .reading: O_RDONLY | O_NONBLOCK
        case .writing: O_RDWR | O_NONBLOCK
        case .creating: O_RDWR | O_NONBLOCK | O_CREAT | O_EXCL
        case .keeping: O_RDWR | O_NONBLOCK | O_CREAT | O_NOFOLLOW
        }
    }
}
