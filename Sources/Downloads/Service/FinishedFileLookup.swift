internal import DownloadCore
internal import DownloadFiles
internal import System

/// Finds the finished files of downloads.
struct FinishedFileLookup: Sendable {
    let finishedFiles: any FinishedFiles
    let volume: DownloadsVolume

    /// Whether the finished file of a download is present, judging by its name.
    /// - Parameter names: The published paths.
    func has(_ download: Download, _ names: FileNames) -> Bool {
        guard let file = download.published, !download.fileMissing, !names.isClaimed(file.path, byOtherThan: download.id)
        else { return false }
        // A file that cannot be examined does not count as missing.
        return volume.isUnreadable || finishedFiles.has(file)
    }

    /// Whether the files are on this machine, and cannot be read.
    var isAway: Bool { !finishedFiles.keepsObjects && volume.isUnreadable }
    /// Whether the files are on this machine, and cannot be removed.
    var isKept: Bool { !finishedFiles.keepsObjects && volume.isAway }

    /// Finds the present identity of a finished file; `nil` if it is gone.
    /// - Throws: `unavailable`.
    func find(_ file: PublishedFile, of id: DownloadID) async throws(FinishedFileError) -> FileIdentity? {
        do throws(FileError) {
            switch try await finishedFiles.recognise(file, of: id) {
            case .identical: return file.identity
            case .adopted(let identity): return identity
            case .different, .missing: return nil
            }
        } catch {
            throw .unavailable(error.message)
        }
    }

    /// Returns the command that records the result of a search; `nil`: the record has it already.
    /// - Parameter found: The identity of the file; `nil`: it is gone.
    static func correction(of download: Download, found: FileIdentity?) -> DownloadMachine.Command.Request? {
        download.fileMissing != (found == nil) || (found != nil && found != download.file) ? .noteFile(found) : nil
    }
}
