internal import System

extension DownloadService {
    /// Takes over what the store had kept and what the last run left in the directory.
    func adopt(_ records: [DownloadRecord]) {
        board.reserveCapacity(records.count)
        for var record in records {
            let id = record.id
            guard record.download.state != .completed else {
                show(record.download)
                continue
            }
            var lifecycle = DownloadLifecycle(record.download.state)
            let isRestored = lifecycle.handle(.restored) != .unchanged
            record.download.state = lifecycle.state
            guard var job = DownloadJob(record) else {
                log(.warning("\(id) has no usable URL"))
                show(record.download)
                continue
            }
            reconcile(&job)
            if let name = job.record.download.filename, job.record.download.state != .cancelled {
                job.reservedName = name
                reservedNames[name.lowercased()] = id
            }
            jobs[id] = job
            show(job.shown)
            if isRestored { enqueue(id) }
        }
        removeOrphans()
    }

    /// Puts a download on the board as it was before any event of this run: nobody listens yet.
    private func show(_ download: Download) {
        board.publish(download, counters: nil, sequence: 0)
    }

    /// Trusts of a part file only what was recorded as synced. What lies behind it is cut when the transfer goes on.
    private func reconcile(_ job: inout DownloadJob) {
        let id = job.record.id
        var recovered = RecoveredPart.missing
        attempt("find the bytes of \(id)") { () throws(FileError) in
            recovered = try depot.recover(id, likelyName: job.record.download.filename)
        }
        switch recovered {
        case .missing: job.written = Coverage()
        case .published(let name, let identity, _):
            // The crash came before the record said so: publication happens only to whole, synced, verified files.
            job.written = Coverage(prefix: identity.size)
            job.published = identity
            job.record.download.filename = name
        case .part(let size):
            job.written = Coverage(job.record.segments).clipped(to: size)
            // Which source brought which bytes is not recorded.
            job.hasMixedSources = !job.record.mirrors.isEmpty
        }
        job.noteSynced(job.written)
        job.record.download.bytesReceived = job.written.byteCount
        job.budget = RetryBudget(furthest: job.written.byteCount)
    }

    /// Removes files in `incomplete` that no record counts on.
    private func removeOrphans() {
        attempt("tidy \(directory.incompletePath)") { () throws(FileError) in
            try depot.removeOrphans { (jobs[$0]?.written.byteCount ?? 0) > 0 }
        }
    }
}
