/// The permissions of finished files and their directories: modes as for chmod(2). `nil` gives
/// access to the owner alone.
public struct FilePermissions: Sendable, Equatable {
    /// The mode of finished files.
    public var file: UInt32?
    /// The mode of the files directory, the directories in it and those above it, as far as the service creates them.
    public var directory: UInt32?

    /// Creates permissions for the owner alone.
    public init() {}
}
