internal import DownloadCore
internal import DownloadFiles
internal import System

/// Finds out whether a failed operation on a file means that the downloads directory is away or full.
struct FileExamination: Sendable {
    let volume: DownloadsVolume
    /// Whether downloads wait in that case. Otherwise they fail.
    let waitsForDisk: Bool
    let inbox: Inbox<DownloadService.Message>

    /// Returns the error as the examination has found it. May wait for a disk.
    func result(of error: FileError) -> FileError {
        guard waitsForDisk else { return error.kind == .noRoom ? error.found(.full) : error }
        // Descriptors or memory may be free at the next look, even without more room.
        if error.kind == .transient {
            return FileError(.noRoom, error.message, losesBytes: error.losesBytes, neededBytes: 1).of(error.folder)
        }
        let found = volume.examine(error)
        if found.kind == .away { inbox.yield(.volumeSuspected) }
        return found
    }

    /// Sends a message with the result.
    func callAsFunction(_ error: FileError, then message: @escaping @Sendable (FileError) -> DownloadService.Message) {
        BlockingExecutor.disk.submit { inbox.yield(message(result(of: error))) }
    }
}
