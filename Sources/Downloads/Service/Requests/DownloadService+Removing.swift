public import DownloadCore
public import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import System

/// Removals of many downloads.
extension DownloadService {
    /// Removes all matching downloads, in pieces of limited size that each become durable together. Live downloads are
    /// cancelled first.
    /// - Parameters:
    ///   - selection: The downloads to remove. A download that no longer matches when it is reached stays as it is.
    ///   - deletesFiles: Whether finished files are removed too.
    /// - Returns: The number of removed downloads.
    /// - Throws: `directoryAway`, `storeFailed`, `insufficientStorage`, `overloaded`, `unconfirmed`, `shuttingDown`.
    ///   Some downloads may have been removed then.
    public func removeAll(_ selection: ListQuery, deletingFiles deletesFiles: Bool) async throws(DownloadError) -> Int {
        try await inPieces(selection, .slotsLast) { ids throws(DownloadError) in
            var left = self.downloads(ids, in: selection)
            if deletesFiles {
                try self.checkFilesAreThere(left.map(\.download))
                for entry in left { try await self.recogniseFile(of: entry.download.id) }
                left = self.downloads(ids, in: selection)
            }
            var count = 0
            for _ in 0..<Self.maximumPasses {
                let deadline = ContinuousClock.now + Self.answerLimit
                var (idle, others) = ([IndexEntry](), [IndexEntry]())
                for entry in left {
                    if self.needsNoMachine(entry, toRemoveFile: deletesFiles) {
                        idle.append(entry)
                    } else {
                        others.append(entry)
                    }
                }
                var removed = try await self.removeIdle(idle, by: deadline)
                // On a full disk, a machine first makes room.
                if removed < idle.count { others = left }
                removed += try await self.ask(
                    .remove(deletingFile: deletesFiles), ofPiece: others.map(\.download.id), if: selection.includes,
                    by: deadline)
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
    private func needsNoMachine(_ entry: IndexEntry, toRemoveFile removesFile: Bool) -> Bool {
        !isShared && !entry.download.state.isLive && entries[entry.download.id] == nil && !isBeingRead(entry.download.id)
            && !(removesFile && entry.download.published != nil)
    }

    /// Removes downloads that need no machine, together. Other requests for them wait until then.
    /// - Returns: The number of removed downloads: all, or none if the disk is full.
    private func removeIdle(
        _ entries: [IndexEntry], by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Int {
        if entries.isEmpty { return 0 }
        let removals = entries.map { (entry: $0, changeID: publisher.reserve()) }
        ledger.reads.begin(entries.lazy.map(\.download.id))
        noteTrustedTime()
        volume.noteSavedRecords()
        let commit = store.submit(removals.map { .remove($0.entry.download.id, changeID: $0.changeID) })
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
        _ removals: [(entry: IndexEntry, changeID: EventID)], after commit: StoreCommit
    ) async -> Result<Int, StoreError> {
        let ids = removals.map(\.entry.download.id)
        defer { ledger.reads.end(ids, after: nil) }
        if let error = await commit.value() {
            for removal in removals { publisher.abandon(removal.changeID) }
            parts.degradation.withLock { $0.suspect() }
            return .failure(error)
        }
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
        noteStrayBytes { gate in for removal in removals { gate.noteRemovedRecord(removal.entry.download.finishedBytes) } }
        for (entry, changeID) in removals {
            let id = entry.download.id
            publisher.remove(id, changeID: changeID)
            names.release(id)
            if entry.download.state == .completed, let path = entry.download.path { names.forget(path, of: id) }
            log(.removed(id))
        }
        schedule()
        await files.flush()
        await files.free()
        gate.roomWaits.noteRemoval()
        return .success(removals.count)
    }
}
