internal import Glibc

/// The space of a file system, in bytes (statvfs(3)).
public struct FileSystemSpace: Sendable, Equatable {
    /// The total; 0 where a file system has no size.
    public let size: Int64
    /// The space available to a process without privileges.
    public let free: Int64

    /// The number of bytes that files leave to others, such as the records.
    private static let margin: Int64 = 4 << 20

    /// Creates the space of a file system of this size, which may be 0 if it is unknown.
    public init(size: Int64, free: Int64) {
        self.size = size
        self.free = free
    }

    /// The bytes that files may take; `nil` where a file system reports no size. Only writing shows then whether it has
    /// space.
    public var usable: Int64? { size > 0 ? free - min(Self.margin, size / 64) : nil }

    /// Whether a number of bytes may be written; 0 stands for any bytes.
    /// - Parameter reserved: The free bytes that others will take.
    public func hasRoom(for bytes: Int64, besides reserved: Int128 = 0) -> Bool {
        usable.map { Int128($0) - reserved >= Int128(max(bytes, 1)) } ?? true
    }

    /// Whether the file system could have room for a number of bytes if enough were freed.
    public func mayHaveRoom(for bytes: Int64) -> Bool {
        FileSystemSpace(size: size, free: size).hasRoom(for: bytes)
    }

    /// Whether less is free than one write may take.
    var isFull: Bool { size > 0 && free < 1 << 20 }

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
