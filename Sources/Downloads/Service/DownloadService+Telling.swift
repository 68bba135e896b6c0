extension DownloadService {
    /// Records a change: stamps it, publishes it to readers, and hands it to the store. The log is told of new states only.
    /// - Parameter isRecorded: whether the store has to know; what it is not told now it learns with the next change.
    /// - Returns: the commit to wait for before anything is promised.
    @discardableResult
    func transition(_ id: DownloadID, isRecorded: Bool = true, _ change: (inout DownloadJob) -> Void) -> StoreCommit {
        guard var job = jobs[id] else { return .nothing }
        let before = job.record.download.state
        change(&job)
        job.record.download.updatedAt = .now()
        job.record.download.revision += 1
        let hasMoved = job.record.download.state != before
        let isSaved = isRecorded && !leaving.contains(id)
        if isSaved {
            job.hasUnsavedEntity = false
            job.record.download.stamp = publisher.reserve()
        }
        jobs[id] = job
        let commit = isSaved ? submit([.save(job.record)], telling: hasMoved ? delivery(of: job.record) : nil) : .nothing
        tell(job)
        if hasMoved { log(.transition(job.record.download)) }
        return commit
    }

    /// Sees to it that a state which nobody waits for gets to the disk: a failure that is lost would be a download that begins again,
    /// unasked, at the next start. Ends when the store has taken it, or is told of a later one.
    func insist(on commit: StoreCommit, _ id: DownloadID) {
        guard let revision = jobs[id]?.record.download.revision else { return }
        // Whoever lets go of the service while it waits is not kept from it.
        Task { [weak self] in
            var commit = commit
            var delay = Duration.milliseconds(500)
            while (try? await commit.wait()) == nil {
                await self?.noteUnsaved(id, revision)
                try? await Task.sleep(for: delay)
                delay = min(delay * 2, .seconds(30))
                guard let next = await self?.saveAgain(id, revision) else { break }
                commit = next
            }
            await self?.noteSaved(id, revision)
        }
    }

    private func noteUnsaved(_ id: DownloadID, _ revision: UInt64) {
        unsaved[id] = max(unsaved[id] ?? 0, revision)
    }

    /// Whatever came later has been told, or is insisted on by itself.
    private func noteSaved(_ id: DownloadID, _ revision: UInt64) {
        guard !isShuttingDown else { return }
        if unsaved[id] == revision { unsaved[id] = nil }
        noteRecorded(id, revision)
    }

    /// Nil if it is too late for that, or there is something newer.
    private func saveAgain(_ id: DownloadID, _ revision: UInt64) -> StoreCommit? {
        guard !isShuttingDown, !leaving.contains(id), let record = jobs[id]?.record, record.download.revision == revision
        else { return nil }
        return store.submit([.save(record)])
    }

    /// Publishes a download as it stands to all readers. Bytes that arrive are shown once their head has been accepted: before
    /// that nobody could say of how many they are, and a pause might give them up.
    func tell(_ job: DownloadJob) {
        let isPlacing = job.record.download.state == .downloading && job.part != nil
        let counters = isPlacing ? job.attempt?.counters : nil
        publish(job.shown, counters: counters)
    }

    func publish(_ download: Download, counters: TransferCounters?) {
        publisher.publish(download, counters: counters)
    }
}
