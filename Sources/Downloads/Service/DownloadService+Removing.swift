public import DownloadCore
public import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import System

/// Removals of many downloads.
extension DownloadService {
    /// Removes all matching downloads, in pieces of limited size that each become durable together. Live downloads are
    /// cancelled first.
    /// - Parameters:
    ///   - selection: The downloads to remove, in its order. With the newest first, no waiting download gets the slot of a
    ///     removed one. A download that no longer matches when it is reached stays as it is.
    ///   - deletesFiles: Whether finished files are removed too.
    /// - Returns: The number of removed downloads.
    /// - Throws: `directoryAway`, `storeFailed`, `insufficientStorage`, `overloaded`, `unconfirmed`, `shuttingDown`.
    ///   Some downloads may have been removed then.
    public func removeAll(_ selection: ListQuery, deletingFiles deletesFiles: Bool) async throws(DownloadError) -> Int {
        try await inPieces(selection) { ids throws(DownloadError) in
            var left = self.downloads(ids, in: selection)
            if deletesFiles {
                try self.checkFilesAreThere(left)
                for download in left { try await self.recogniseFile(of: download.id) }
                left = self.downloads(ids, in: selection)
            }
            var count = 0
            for _ in 0..<Self.maximumPasses {
                let deadline = ContinuousClock.now + Self.answerLimit
                var (idle, others) = ([Download](), [Download]())
                for download in left {
                    if self.needsNoMachine(download, toRemoveFile: deletesFiles) {
                        idle.append(download)
                    } else {
                        others.append(download)
                    }
                }
                var removed = try await self.removeIdle(idle, by: deadline)
                // On a full disk, a machine first makes room.
                if removed < idle.count { others = left }
                removed += try await self.ask(
                    .remove(deletingFile: deletesFiles), ofPiece: others, if: selection.includes, by: deadline)
                count += removed
                if removed == left.count || !self.isShared { return count }
                // An owner may have refused the command because the version here was outdated. Downloads that still
                // match are removed in another pass.
                try await self.catchUp()
                left = self.downloads(ids, in: selection)
                if left.isEmpty { return count }
            }
            throw .overloaded
        }
    }

    /// Whether a download can be removed without its record: it has ended, no request or work uses it, and no file is
    /// removed with it. The records of a fleet may have other owners.
    private func needsNoMachine(_ download: Download, toRemoveFile removesFile: Bool) -> Bool {
        !isShared && !download.state.isLive && entries[download.id] == nil && !isBeingRead(download.id)
            && !(removesFile && download.published != nil)
    }

    /// Removes downloads that need no machine, together. Other requests for them wait meanwhile.
    /// - Returns: The number of removed downloads: all, or none if the disk is full.
    private func removeIdle(
        _ downloads: [Download], by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Int {
        if downloads.isEmpty { return 0 }
        let removals = downloads.map { (download: $0, changeID: publisher.reserve()) }
        for download in downloads { ledger.reads.begin(download.id) }
        noteTrustedTime()
        hasSavedRecords = true
        let commit = store.submit(removals.map { .remove($0.download.id, changeID: $0.changeID) })
        let result: Result<Int, StoreError>? = await result(by: deadline) { finish in
            Task { finish(await self.finish(removals, after: commit)) }
        }
        switch result {
        case .success(let count): return count
        case .failure(.full): return 0
        case .failure(let error): throw DownloadError(error)
        case nil: throw .unconfirmed
        }
    }

    /// Publishes removals once they are durable, and frees the names and the disk space of the downloads.
    /// - Returns: The number of removals.
    private func finish(
        _ removals: [(download: Download, changeID: EventID)], after commit: StoreCommit
    ) async -> Result<Int, StoreError> {
        defer { for removal in removals { ledger.reads.end(removal.download.id, after: nil) } }
        if let error = await commit.failure() {
            for removal in removals { publisher.abandon(removal.changeID) }
            parts.degradation.withLock { $0.suspect() }
            return .failure(error)
        }
        let ids = removals.map(\.download.id)
        let (files, errors) = await BlockingExecutor.disk.run { [partFiles] in
            var (files, errors) = (RemovedFiles(), [DownloadLogEvent]())
            for id in ids {
                do throws(FileError) { files.add(try partFiles.removeParts(id)) } catch {
                    errors.append(.warning("cannot remove the partial bytes of \(id): \(error.message)"))
                }
            }
            return (files, errors)
        }
        errors.forEach(log)
        noteStrayBytes { gate in for removal in removals { gate.noteRemovedRecord(removal.download.finishedBytes) } }
        for (download, changeID) in removals {
            publisher.remove(download.id, changeID: changeID)
            names.release(download.id)
            if download.state == .completed, let path = download.path { names.forget(path, of: download.id) }
            log(.removed(download.id))
        }
        schedule()
        await files.flush()
        await files.free()
        return .success(removals.count)
    }
}
