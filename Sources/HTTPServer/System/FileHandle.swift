internal import CSystem
internal import Glibc
public import HTTPCore

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

    /// Opens the file of that name; links are followed.
    public init(opening path: String) throws(OpenError) {
        // O_NONBLOCK: opening a pipe must not wait for its writer. It means nothing for a regular file.
        let descriptor = unsafe pawl_open(path, O_RDONLY | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            let number = errno
            throw number == ENOENT || number == ENOTDIR ? .notFound : .failed(errno: number)
        }
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
    }

    deinit {
        close(descriptor)
    }

    /// The time of the last modification as HTTP shows it.
    public var lastModified: HTTPDate { HTTPDate(secondsSinceEpoch: modifiedSeconds) }
}
