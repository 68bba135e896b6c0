internal import Glibc

/// What tells one file from all others that ever bore its name: another file, or the same one written to since, differs in it.
public struct FileIdentity: Sendable, Hashable, LosslessStringConvertible {
    /// The file system it is on.
    public let device: UInt64
    /// Its number there. Numbers are used again once a file is gone.
    public let inode: UInt64
    /// Bytes.
    public let size: Int64
    /// When it was last written to, in nanoseconds since 1970.
    public let modified: Int64

    /// An identity from its parts.
    public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
    }

    /// Reads what ``description`` writes.
    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, let device = UInt64(parts[0]), let inode = UInt64(parts[1]), let size = Int64(parts[2]),
            size >= 0, let modified = Int64(parts[3])
        else { return nil }
        self.init(device: device, inode: inode, size: size, modified: modified)
    }

    /// Whether both are of one file, which may have been written to between them.
    public func isSameFile(as other: FileIdentity) -> Bool { (device, inode) == (other.device, other.inode) }

    /// Its four numbers, with colons between them.
    public var description: String { "\(device):\(inode):\(size):\(modified)" }
}

/// What the file system says of something that bears a name (stat(2)).
public struct FileStatus: Sendable, Equatable {
    /// What a name can lead to.
    public enum Kind: Sendable, Equatable {
        /// A regular file.
        case regular
        /// A directory.
        case directory
        /// A symbolic link, a pipe, a socket or a device.
        case other
    }

    /// Which file it is.
    public let identity: FileIdentity
    /// What it is.
    public let kind: Kind
    /// How many names lead to it.
    public let links: UInt64
    /// Bytes that it takes on the disk.
    public let allocated: Int64
    /// Who may do what with it: the twelve lowest bits of its mode.
    public let permissions: UInt32
    /// The number of the user who owns it.
    public let owner: UInt32

    /// Whether this process's user or root owns it.
    public var isOwn: Bool { owner == geteuid() || owner == 0 }

    init(_ status: stat) {
        let modified = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
        identity = FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: modified &+ Int64(status.st_mtim.tv_nsec))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            default: .other
            }
        links = UInt64(status.st_nlink)
        allocated = Int64(status.st_blocks) * 512
        permissions = UInt32(status.st_mode) & 0o7777
        owner = status.st_uid
    }
}
