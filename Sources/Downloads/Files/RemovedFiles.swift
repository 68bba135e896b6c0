internal import System

/// Files whose names are gone, and whose room is still to be given back.
///
/// A file system takes seconds for that with a file of some GiB. Whoever lets go of this does not wait for it.
struct RemovedFiles: Sendable {
    private var files: [FileDescriptor] = []

    /// Removes an entry; one that is not there is fine.
    mutating func remove(_ name: String, from directory: Directory) throws(SystemError) {
        // Without a descriptor to spare, the room is given back at once.
        let file = try? directory.hold(name)
        try directory.remove(name)
        if let file, file.isLastOfMuch { files.append(file) }
    }

    /// Gives the room back; it is there when this returns.
    func free() async {
        if files.isEmpty { return }
        await BlockingExecutor.freeing.run {
            for file in files { file.close() }
        }
    }
}
