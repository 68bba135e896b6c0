extension DownloadService {
    /// Syncs the part file of a running transfer and records how far it has come.
    func checkpoint(_ id: DownloadID) {
        guard let job = jobs[id], let attempt = job.attempt, let part = job.part, job.swap == nil else { return }
        jobs[id]?.lastCheckpoint = .now
        let written = attempt.written
        guard written.byteCount > job.record.syncedBytes else { return }
        Task {
            if let error = await checkpointer.synchronize(part) {
                self.syncFailed(id, part, error)
            } else {
                self.noteSynced(id, part, written)
            }
        }
    }

    /// Ends a transfer whose bytes do not reach the disk. The system reports such a failure once and then forgets it, so that
    /// a later sync would seem to succeed.
    private func syncFailed(_ id: DownloadID, _ part: PartFile, _ error: FileError) {
        log(.warning(error.message))
        guard jobs[id]?.part === part else { return }
        jobs[id]?.syncFailure = DownloadFailure(error)
        jobs[id]?.attempt?.cancel()
    }

    /// Gives up bytes of which nobody knows whether they are on the disk.
    func trustOnlySynced(_ id: DownloadID) {
        guard let job = jobs[id] else { return }
        jobs[id]?.written = Coverage(job.record.segments)
        jobs[id]?.restartHash()
    }

    /// Records bytes that are on the disk, if the part file is still the one they are in.
    ///
    /// Not of a file that is being published: the record of its end may be on its way to the disk, and this would come after it.
    func noteSynced(_ id: DownloadID, _ part: PartFile, _ written: Coverage) {
        guard let job = jobs[id], job.part === part, !job.isFinishing, written.byteCount > job.record.syncedBytes else { return }
        jobs[id]?.noteSynced(written)
        if job.hasUnsavedEntity {
            jobs[id]?.record.download.bytesReceived = written.byteCount
            jobs[id]?.hasUnsavedEntity = false
            if let record = jobs[id]?.record, !leaving.contains(id) { _ = store.submit([.save(record)]) }
        } else {
            store.note(StoredProgress(id: id, bytesReceived: written.byteCount, segments: jobs[id]?.record.segments ?? []))
        }
    }

    // MARK: - Coming to rest

    /// Syncs what a transfer that ended has left, records it, and lets those go on who wait for that. One that stops for long
    /// gives back the room that it has not used.
    func settle(_ id: DownloadID) {
        guard let job = jobs[id] else { return }
        running.remove(id)
        let written = job.written
        guard let part = job.part, written.byteCount > job.record.syncedBytes || job.keepsOnlyWritten else {
            cameToRest(id)
            return
        }
        jobs[id]?.activity = .settling
        if job.keepsOnlyWritten { checkpointer.reduce(part, to: written) }
        Task {
            if let error = await checkpointer.synchronize(part) {
                self.log(.warning(error.message))
                self.trustOnlySynced(id)
            } else {
                self.noteSynced(id, part, written)
            }
            self.cameToRest(id)
        }
    }

    /// Nothing runs for the download any more.
    func cameToRest(_ id: DownloadID) {
        guard jobs[id] != nil else { return }
        jobs[id]?.activity = .idle
        jobs[id]?.part = nil
        jobs[id]?.hasher.rest()
        let waiters = jobs[id]?.restWaiters ?? []
        jobs[id]?.restWaiters = []
        for waiter in waiters { waiter.resume() }
        guard jobs[id]?.startsWhenIdle == true, !isShuttingDown else { return }
        begin(id)
        keepPulse()
    }
}
