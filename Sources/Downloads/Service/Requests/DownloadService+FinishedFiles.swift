public import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
public import System

/// The files of completed downloads.
extension DownloadService {
    /// Opens a finished file without the disk, for use on an event loop; `nil` if that fails or the disk is needed.
    public nonisolated func openCachedFile(_ name: String, in folder: String, as identity: FileIdentity) -> FileDescriptor? {
        finishedFiles.openCached(FilePath(name, in: folder), as: identity)
    }

    /// Whether finished files are in object storage.
    public nonisolated var keepsObjects: Bool { finishedFiles.keepsObjects }

    /// Returns a URL at which a finished file in object storage is available, with ranges; `nil` if files are on this machine.
    /// Sends no request.
    /// - Parameters:
    ///   - isHead: Whether the URL is signed for HEAD instead of GET.
    ///   - disposition: The Content-Disposition of the response; `nil`: none.
    ///   - seconds: The time for which the URL is valid, from 1 to 604,800.
    public nonisolated func address(
        of id: RecordID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String, validFor seconds: Int
    ) -> String? {
        finishedFiles.address(
            of: id, as: identity, isHead: isHead, disposition: disposition, mediaType: mediaType, validFor: seconds)
    }

    /// Opens the finished file of a download, if it is still the one that was published. Its present identity is recorded.
    /// - Returns: The file and its identity; without a file if it is in object storage.
    /// - Throws: `gone`, `unavailable`.
    public func openFile(of id: RecordID) async throws(FinishedFileError) -> (FileDescriptor?, FileIdentity) {
        if files.isAway { throw .unavailable("the downloads directory is away") }
        guard let identity = try await currentFile(of: id), let file = index.download(id)?.published else { throw .gone }
        if keepsObjects { return (nil, identity) }
        do throws(FileError) {
            let descriptor = try await BlockingExecutor.disk.run { [finishedFiles] () throws(FileError) in
                try finishedFiles.open(file)
            }
            return (descriptor, identity)
        } catch {
            throw error.meansNoBytes ? .gone : .unavailable(error.message)
        }
    }

    /// Notes the finished files that are gone, and those that are back. It examines a piece of the list at a time, and requests
    /// come in between.
    func noteMissingFiles() async {
        let ids = index.ids(ListQuery(states: [.completed]), .slotsLast)
        for start in stride(from: 0, to: ids.count, by: Self.bulkPiece) {
            guard !Task.isCancelled else { return }
            let downloads = index.entries(ids[start...].prefix(Self.bulkPiece)).map(\.download)
            _ = await withoutMissingFiles(downloads)
            for download in downloads where download.fileMissing { _ = try? await currentFile(of: download.id) }
        }
    }

    /// Returns the downloads whose finished files are not gone, as far as names and lengths tell. Notes the other ones.
    package func withoutMissingFiles(_ downloads: [Download]) async -> [Download] {
        let gone = await files.gone(downloads)
        if !gone.isEmpty { _ = try? await ask(.noteFile(nil), ofPiece: Array(gone)) }
        return downloads.filter { !gone.contains($0.id) }
    }

    /// Whether the finished file of a download is present, judging by its name.
    func hasFile(_ download: Download) -> Bool { files.has(download, names) }

    /// Refuses to delete finished files while their directory is away: the records would be removed, but not the files.
    func checkFilesAreThere(_ downloads: [Download]) throws(DownloadError) {
        if files.isKept, downloads.contains(where: { $0.published != nil }) { throw .directoryAway }
    }

    /// Records the present identity of a finished file before it is removed with its record. A copy that was restored
    /// from a backup is the same file with another identity.
    /// - Throws: `unconfirmed` if that takes too long. A repeated request continues from there.
    func recogniseFile(of id: RecordID, by deadline: ContinuousClock.Instant? = nil) async throws(DownloadError) {
        guard let download = index.download(id), download.published != nil, !hasFile(download) else { return }
        let result: Result<Download, DownloadError> = await withCheckedContinuation { continuation in
            let waiter = wait(by: deadline) { continuation.resume(returning: $0) }
            Task {
                _ = try? await self.currentFile(of: id)
                self.answer(waiter, .success(download))
            }
        }
        _ = try result.get()
    }

    /// Finds the finished file of a download and records its identity.
    /// - Returns: The identity of the file; `nil` if it is gone.
    @discardableResult
    func currentFile(of id: RecordID) async throws(FinishedFileError) -> FileIdentity? {
        guard let download = index.download(id), let file = download.published else { return nil }
        if hasFile(download) { return download.file }
        let found = try await recognise(file, of: id)
        if let change = FinishedFileLookup.correction(of: download, found: found) { _ = try? await ask(change, of: id) }
        return found
    }

    /// Finds on the disk the present identity of a download's finished file; `nil` if it is gone. If length and time are
    /// enough to know it, its bytes are compared afterwards.
    func recognise(_ file: PublishedFile, of id: RecordID) async throws(FinishedFileError) -> FileIdentity? {
        if names.isAssigned(file.path, byOtherThan: id) { return nil }
        let isKnownMissing = index.download(id)?.fileMissing ?? false
        let (found, isLikely) = try await files.find(file, of: id, isHashed: isKnownMissing)
        // Another download may have got the name during the search.
        if names.isAssigned(file.path, byOtherThan: id) { return nil }
        if isLikely, ledger.comparing.insert(id).inserted { compare(file, of: id) }
        return found
    }

    /// Compares the bytes of a finished file with its record in the background. If they differ, the file counts as missing.
    private func compare(_ file: PublishedFile, of id: RecordID) {
        Task { [files] in
            let result = try? await files.find(file, of: id, isHashed: true)
            ledger.comparing.remove(id)
            if let (found, _) = result, found == nil, index.download(id)?.published?.path == file.path {
                _ = try? await ask(.noteFile(nil), of: id)
            }
        }
    }
}
