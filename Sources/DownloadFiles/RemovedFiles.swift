package import System

/// Files whose names are removed, and whose disk space is still to be freed.
///
/// A file system takes seconds to free some GiB. A caller can release this value without waiting for that.
package struct RemovedFiles: Sendable {
    private var files: [FileDescriptor] = []
    /// Directories in which the removal of a name is still to be made durable.
    private var directories: [Directory] = []

    package init(files: [FileDescriptor] = [], directories: [Directory] = []) {
        self.files = files
        self.directories = directories
    }

    /// Removes an entry. Has no effect if it is missing.
    package mutating func remove(_ name: String, from directory: Directory) throws(SystemError) {
        // If no descriptor is available, the space is freed by the removal itself.
        let file = try? directory.hold(name)
        try directory.remove(name)
        if let file, file.isLastOfMuch { files.append(file) }
    }

    /// Whether disk space is still to be freed, or a removal to be flushed.
    package var isPending: Bool { !files.isEmpty || !directories.isEmpty }

    /// Makes the removal durable when ``flush()`` returns. Otherwise power loss could restore the name.
    mutating func noteUnflushed(_ directory: Directory) { directories.append(directory) }

    /// Adds other removed files.
    package mutating func add(_ others: RemovedFiles) {
        files += others.files
        directories += others.directories
    }

    /// Makes the removals durable.
    package func flush() async {
        if directories.isEmpty { return }
        await BlockingExecutor.disk.run {
            // If a flush fails, the file is removed for this run nevertheless.
            for directory in directories { try? directory.synchronize() }
        }
    }

    /// Frees the disk space.
    package func free() async {
        if files.isEmpty { return }
        await BlockingExecutor.freeing.run {
            for file in files { file.close() }
        }
    }
}
