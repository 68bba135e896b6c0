internal import Glibc

/// A user of this machine.
public struct UserAccount: Sendable, Equatable {
    /// The user's name.
    public let name: String
    /// The number of the user.
    public let identifier: UInt32
    /// The number of the user's own group.
    public let group: UInt32

    /// The user of that name; nil if there is none.
    public init?(named name: String) {
        guard let entry = unsafe getpwnam(name) else { return nil }
        self.name = name
        identifier = unsafe entry.pointee.pw_uid
        group = unsafe entry.pointee.pw_gid
    }

    /// Whether this process is root's.
    public static var isRoot: Bool { geteuid() == 0 }

    /// Makes the user the owner of a file or directory, which only root can.
    public func own(_ path: String) throws(SystemError) {
        guard unsafe lchown(path, identifier, group) == 0 else { throw .last }
    }
}
