internal import CSystem
internal import Glibc
public import HTTPCore
internal import Synchronization

/// A regular file that is open for reading; closed when the last reference goes.
public final class FileHandle: Sendable {
    let descriptor: Int32
    /// Its length in bytes when it was opened.
    public let size: Int64
    /// When it was last modified, in whole seconds since 1970 and the nanoseconds beyond.
    public let modifiedSeconds: Int64
    /// 0–999,999,999.
    public let modifiedNanoseconds: Int64
    /// With the device, what identifies the file whatever its name is.
    public let inode: UInt64

    /// Why a file can't be opened.
    public enum OpenError: Error, Sendable, Equatable {
        /// Nothing has that name.
        case notFound
        /// The name is that of a directory, a pipe or a device.
        case notRegular
        /// The system refuses; its error number.
        case failed(errno: Int32)
    }

    /// How many there are in the process: each is a descriptor.
    public static var count: Int { open.load(ordering: .relaxed) }

    private static let open = Atomic<Int>(0)

    /// Opens the file of that name; links are followed.
    public convenience init(opening path: String) throws(OpenError) {
        // O_NONBLOCK: opening a pipe must not wait for its writer. It means nothing for a regular file.
        let descriptor = unsafe pawl_open(path, O_RDONLY | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            let number = errno
            throw number == ENOENT || number == ENOTDIR ? .notFound : .failed(errno: number)
        }
        try self.init(owning: descriptor)
    }

    /// Opens the file of that name if that needs no disk; nil if it does, or fails in any way. An event loop may do this itself.
    public convenience init?(openingCached path: String) {
        let descriptor = unsafe pawl_open_cached(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        do throws(OpenError) { try self.init(owning: descriptor) } catch { return nil }
    }

    private init(owning descriptor: Int32) throws(OpenError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw .failed(errno: number)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notRegular
        }
        self.descriptor = descriptor
        size = Int64(status.st_size)
        modifiedSeconds = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        inode = UInt64(status.st_ino)
        Self.open.add(1, ordering: .relaxed)
    }

    deinit {
        close(descriptor)
        Self.open.subtract(1, ordering: .relaxed)
    }

    /// Whether the byte there is in memory, as far as the kernel knows.
    func isCached(_ offset: Int64) -> Bool { pawl_is_cached(descriptor, offset) == 1 }

    /// Of what it is asked for at once the kernel reads no more than a disk takes at a time, and forgets the rest.
    private static let advicePiece: Int64 = 128 * 1024

    /// Has the kernel read what is asked for next, without waiting for it. What is in memory, judging by its ends, isn't asked for: the kernel
    /// would look at each of its pages.
    func prefetch(offset: Int64, count: Int) {
        if isCached(offset), isCached(offset + Int64(count) - 1) { return }
        var start = offset
        let end = offset + Int64(count)
        while start < end {
            let length = min(Self.advicePiece, end - start)
            _ = posix_fadvise(descriptor, off_t(start), off_t(length), Int32(POSIX_FADV_WILLNEED))
            start += length
        }
    }

    /// The time of the last modification as HTTP shows it.
    public var lastModified: HTTPDate { HTTPDate(secondsSinceEpoch: modifiedSeconds) }
}
