internal import CSystem
internal import Glibc
internal import System

/// A failed file operation.
struct FileError: Error, Sendable, Equatable {
    /// The operation, as one would say it: "write", "sync".
    let operation: String
    let path: String
    let code: Int32

    /// Whether the file system has no room (or the quota is used up).
    var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether bytes that seemed written may not be on the disk: the system says so once, and a later sync would seem to succeed.
    var losesBytes: Bool { operation.hasPrefix("sync") }

    /// Whether it is about what the process may have at one time: another time there may be enough.
    var isTransient: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(code) }

    var message: String { "\(operation) \(path): \(SystemError(code))" }
}

/// The file that holds a download's bytes until it is published; closed when the value goes away.
final class PartFile: Sendable {
    let path: String
    let descriptor: Int32

    /// Opens the file, creating it where it is missing.
    /// - Parameter truncating: whether bytes that are there are discarded.
    init(path: String, truncating: Bool) throws(FileError) {
        self.path = path
        let flags = O_RDWR | O_CREAT | (truncating ? O_TRUNC : 0)
        descriptor = unsafe pawl_open(path, flags, 0o600)
        if descriptor < 0 { throw FileError(operation: "open", path: path, code: errno) }
    }

    /// Opens a file that is there, to be read only.
    init(reading path: String) throws(FileError) {
        self.path = path
        descriptor = unsafe pawl_open(path, O_RDONLY | O_NOFOLLOW, 0)
        if descriptor < 0 { throw FileError(operation: "open", path: path, code: errno) }
    }

    deinit {
        RemovedFiles.letGo(descriptor)
    }

    /// Writes all bytes at an offset. A short write goes on where it stopped, so that a full disk shows as its error.
    func write(_ bytes: RawSpan, at offset: Int64) throws(FileError) {
        let failure = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
            var done = 0
            while done < buffer.count {
                let written = unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
                if written < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                done += written
            }
            return 0
        }
        if failure != 0 { throw FileError(operation: "write", path: path, code: failure) }
    }

    /// Reserves blocks up to `length` bytes, so that a full disk shows before the transfer and writes need no allocation.
    /// - Returns: whether the room is taken; false on file systems that cannot.
    func preallocate(_ length: Int64) throws(FileError) -> Bool {
        guard length > 0 else { return true }
        while pawl_preallocate(descriptor, 0, length) != 0 {
            switch errno {
            case EINTR: continue
            case EOPNOTSUPP, ENOSYS, EINVAL: return false
            default: throw FileError(operation: "reserve space for", path: path, code: errno)
            }
        }
        return true
    }

    /// Gives back the room that was reserved for bytes which have not come. Best effort: some file systems cannot.
    func release(allBut written: Coverage) {
        for gap in written.gaps(upTo: written.end) {
            _ = pawl_punch_hole(descriptor, gap.lowerBound, gap.upperBound - gap.lowerBound)
        }
        _ = ftruncate(descriptor, off_t(written.end))
    }

    /// Cuts or extends the file to `length` bytes.
    func truncate(to length: Int64) throws(FileError) {
        if ftruncate(descriptor, off_t(length)) != 0 { throw FileError(operation: "truncate", path: path, code: errno) }
    }

    /// Waits until the bytes written so far are on the disk.
    func synchronize() throws(FileError) {
        while fdatasync(descriptor) != 0 {
            if errno == EINTR { continue }
            throw FileError(operation: "sync", path: path, code: errno)
        }
    }

    /// Waits until everything written to the file system is on the disk: cheaper than one `synchronize` each for many files.
    func synchronizeFileSystem() throws(FileError) {
        if pawl_syncfs(descriptor) != 0 { throw FileError(operation: "sync the file system of", path: path, code: errno) }
    }

    /// The file's size in bytes.
    func size() throws(FileError) -> Int64 {
        var status = stat()
        if unsafe fstat(descriptor, &status) != 0 { throw FileError(operation: "examine", path: path, code: errno) }
        return Int64(status.st_size)
    }

    /// Feeds `digest` the bytes from its own length up to `end`, reading them back in pieces that stay in the processor's
    /// cache.
    func hash(upTo end: Int64, into digest: inout FileDigest) throws(FileError) {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while digest.length < end {
            let wanted = Int(min(Int64(buffer.count), end - digest.length))
            let position = off_t(digest.length)
            let got = unsafe buffer.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, wanted, position) }
            if got < 0 {
                if errno == EINTR { continue }
                throw FileError(operation: "read", path: path, code: errno)
            }
            if got == 0 { throw FileError(operation: "read past the end of", path: path, code: EIO) }
            unsafe digest.update(buffer.span.bytes.extracting(first: got))
        }
    }
}
