internal import Glibc

/// A user of this machine.
public struct UserAccount: Sendable, Equatable {
    /// The user's name.
    public let name: String
    /// The user's number.
    public let identifier: UInt32
    /// The number of the user's primary group.
    public let group: UInt32

    /// Looks up a user by name; `nil` if there is none.
    public init?(named name: String) {
        guard let entry = unsafe getpwnam(name) else { return nil }
        self.name = name
        identifier = unsafe entry.pointee.pw_uid
        group = unsafe entry.pointee.pw_gid
    }

    /// Whether this process runs as root.
    public static var isRoot: Bool { geteuid() == 0 }

    /// Makes the user the owner of a file or directory. Only root can do that.
    public func own(_ path: String) throws(SystemError) {
        guard unsafe lchown(path, identifier, group) == 0 else { throw .last }
    }
}
