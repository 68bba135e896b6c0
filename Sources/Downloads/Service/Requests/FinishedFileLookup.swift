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
        guard let file = download.published, !download.fileMissing, !names.isAssigned(file.path, byOtherThan: download.id)
        else { return false }
        // A file that cannot be examined does not count as missing.
        return volume.isUnreadable || finishedFiles.has(file)
    }

    /// Whether the files are on this machine, and cannot be read.
    var isAway: Bool { !finishedFiles.keepsObjects && volume.isUnreadable }
    /// Whether the files are on this machine, and cannot be removed.
    var isKept: Bool { !finishedFiles.keepsObjects && volume.isAway }

    /// Finds the present identity of a finished file; `nil` if it is gone.
    /// - Parameter isHashed: Whether a file with another identity is always hashed.
    /// - Returns: The identity, and whether its bytes are still to be compared.
    /// - Throws: `unavailable`.
    func find(
        _ file: PublishedFile, of id: RecordID, isHashed: Bool
    ) async throws(FinishedFileError) -> (FileIdentity?, isLikely: Bool) {
        do throws(FileError) {
            switch try await finishedFiles.recognise(file, of: id, isHashed: isHashed) {
            case .identical: return (file.identity, false)
            case .adopted(let identity): return (identity, false)
            case .likely(let identity): return (identity, true)
            case .different, .missing: return (nil, false)
            }
        } catch {
            throw .unavailable(error.message)
        }
    }

    /// Returns the downloads whose files are gone, or other ones by their lengths. If that cannot be told, none is.
    func gone(_ downloads: [Download]) async -> Set<RecordID> {
        let found = await BlockingExecutor.disk.run { [finishedFiles] in
            downloads.filter { !$0.fileMissing && $0.published.map(finishedFiles.isGone) ?? false }.map(\.id)
        }
        return isAway || isKept ? [] : Set(found)
    }

    /// Returns the command that records the result of a search; `nil`: the record has it already.
    /// - Parameter found: The identity of the file; `nil`: it is gone.
    static func correction(of download: Download, found: FileIdentity?) -> DownloadMachine.Command.Request? {
        download.fileMissing != (found == nil) || (found != nil && found != download.file) ? .noteFile(found) : nil
    }
}
