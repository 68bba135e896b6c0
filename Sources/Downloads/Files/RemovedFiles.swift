internal import System

/// Files whose names are gone, and whose room is still to be given back.
///
/// A file system takes seconds for that with a file of some GiB. Whoever lets go of this does not wait for it.
struct RemovedFiles: Sendable {
    private var files: [FileDescriptor] = []
    /// Directories whose loss of a name is to last.
    private var directories: [Directory] = []

    /// Removes an entry; one that is not there is fine.
    mutating func remove(_ name: String, from directory: Directory) throws(SystemError) {
        // Without a descriptor to spare, the room is given back at once.
        let file = try? directory.hold(name)
        try directory.remove(name)
        if let file, file.isLastOfMuch { files.append(file) }
    }

    /// Whether there is room that is still to be given back, or a name whose removal is still to be flushed.
    var isPending: Bool { !files.isEmpty || !directories.isEmpty }

    /// Has the removal last once ``finish()`` returns: without that, power loss would bring the name back.
    mutating func flush(_ directory: Directory) { directories.append(directory) }

    /// Takes others along.
    mutating func add(_ others: RemovedFiles) {
        files += others.files
        directories += others.directories
    }

    /// Gives the room back, and flushes what is to last; that is done when this returns.
    func finish() async {
        if !isPending { return }
        await BlockingExecutor.freeing.run {
            for file in files { file.close() }
            // What cannot be flushed is gone for this run all the same.
            for directory in directories { try? directory.synchronize() }
        }
    }
}
