/// Who else may read what is finished: modes as chmod(2) takes them. `nil`: the owner alone.
public struct FilePermissions: Sendable, Equatable {
    /// Those of finished files.
    public var file: UInt32?
    /// Those of the files directory, of the directories in it, and of those that lead to it, as far as the service makes them.
    public var directory: UInt32?

    /// Finished files and their directories are their owner's alone.
    public init() {}
}
