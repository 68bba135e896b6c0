internal import Glibc

/// The room of a file system, in bytes (statvfs(3)).
public struct FileSystemSpace: Sendable, Equatable {
    /// All of it; 0 where a file system has no size.
    public let size: Int64
    /// What a process without privileges may take.
    public let free: Int64

    /// The room where a path is.
    public init(at path: String) throws(SystemError) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw .last }
        self.init(status)
    }

    /// The room where something open is.
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
