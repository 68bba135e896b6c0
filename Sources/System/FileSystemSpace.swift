internal import Glibc

/// The space of a file system, in bytes (statvfs(3)).
public struct FileSystemSpace: Sendable, Equatable {
    /// The total; 0 where a file system has no size.
    public let size: Int64
    /// The space available to a process without privileges.
    public let free: Int64

    /// Reads the space of the file system that contains a path.
    public init(at path: String) throws(SystemError) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw .last }
        self.init(status)
    }

    /// Reads the space of the file system that contains an open file.
    public init(of descriptor: Int32) throws(SystemError) {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { throw .last }
        self.init(status)
    }

    init(_ status: statvfs) {
        func bytes(_ blocks: UInt64) -> Int64 {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflow ? .max : Int64(clamping: bytes)
        }
        size = bytes(UInt64(status.f_blocks))
        free = bytes(UInt64(status.f_bavail))
    }
}
