internal import Glibc

/// The identity of a version of a file. It differs between files that had the same name, and before and after a write.
public struct FileIdentity: Sendable, Hashable, LosslessStringConvertible {
    /// The number of the file system.
    public let device: UInt64
    /// The file's number in the file system. The number of a removed file is used again.
    public let inode: UInt64
    /// The size in bytes.
    public let size: Int64
    /// The time of the last write, in nanoseconds since 1970.
    public let modified: Int64

    /// Creates an identity from its parts.
    public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
    }

    /// Parses a ``description``; `nil` for anything else.
    public init?(_ description: String) {
        // A start parses one for each finished file. Substrings of characters would take twenty times as long.
        var (device, inode, size): (UInt64, UInt64, UInt64) = (0, 0, 0)
        var (number, digits, colons, isNegative): (UInt64, Int, Int, Bool) = (0, 0, 0, false)
        for byte in description.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
                let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
                if overflow || carry { return nil }
                (number, digits) = (sum, digits + 1)
            case UInt8(ascii: ":") where colons < 3 && digits > 0:
                (device, inode, size) = (inode, size, number)
                (number, digits, colons) = (0, 0, colons + 1)
            case UInt8(ascii: "-") where colons == 3 && digits == 0 && !isNegative: isNegative = true
            default: return nil
            }
        }
        let modified = isNegative ? Int64(exactly: -Int128(number)) : Int64(exactly: number)
        guard colons == 3, digits > 0, let size = Int64(exactly: size), let modified else { return nil }
        self.init(device: device, inode: inode, size: size, modified: modified)
    }

    /// Whether both identities are of one file, possibly with a write between them.
    public func isSameFile(as other: FileIdentity) -> Bool { (device, inode) == (other.device, other.inode) }

    /// Whether length and time of the last write are the same. Some file systems change the numbers of a file.
    public func isLikely(_ other: FileIdentity) -> Bool { (size, modified) == (other.size, other.modified) }

    /// The four numbers, separated by colons.
    public var description: String { "\(device):\(inode):\(size):\(modified)" }
}

/// The status of an entry of a file system (stat(2)).
public struct FileStatus: Sendable, Equatable {
    /// The kind of an entry.
    public enum Kind: Sendable, Equatable {
        /// A regular file.
        case regular
        /// A directory.
        case directory
        /// A symbolic link.
        case link
        /// A pipe, a socket or a device.
        case other
    }

    /// The identity of the file.
    public let identity: FileIdentity
    /// The kind of the entry.
    public let kind: Kind
    /// The number of names of the file (hard links).
    public let links: UInt64
    /// The bytes that the file occupies on the disk.
    public let allocated: Int64
    /// The permissions: the twelve lowest bits of the mode.
    public let permissions: UInt32
    /// The number of the owning user.
    public let owner: UInt32
    /// The time of the last change of the file or its status, in nanoseconds since 1970. No program can set it.
    public let changed: Int64

    /// Returns whether both are states of one file, and no program has changed it in between. Its blocks do not count,
    /// because some file systems allocate and free them later.
    public func isUnchanged(in other: FileStatus) -> Bool { identity == other.identity && changed == other.changed }

    /// Whether this process's user or root is the owner.
    public var isOwn: Bool { owner == geteuid() || owner == 0 }

    init(_ status: stat) {
        identity = FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Self.nanoseconds(status.st_mtim))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        links = UInt64(status.st_nlink)
        allocated = Int64(status.st_blocks) * 512
        permissions = UInt32(status.st_mode) & 0o7777
        owner = status.st_uid
        changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ Int64(time.tv_nsec)
    }
}
