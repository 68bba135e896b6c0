extension DownloadService {
    /// Takes over what the store had kept and what the last run left in the directory.
    func adopt(_ records: [DownloadRecord]) {
        for var record in records {
            let id = record.id
            guard record.download.state != .completed else {
                publish(record.download, counters: nil)
                continue
            }
            var lifecycle = DownloadLifecycle(record.download.state)
            let isRestored = lifecycle.handle(.restored) != .unchanged
            record.download.state = lifecycle.state
            guard var job = DownloadJob(record) else {
                log(.warning("\(id) has no usable URL"))
                publish(record.download, counters: nil)
                continue
            }
            if let name = record.download.filename, record.download.state != .cancelled {
                job.reservedName = name
                reservedNames[name.lowercased()] = id
            }
            reconcile(&job)
            jobs[id] = job
            publish(job.record.download, counters: nil)
            if isRestored { enqueue(id) }
        }
        removeOrphans()
    }

    /// Trusts of a part file only what was recorded as synced. What lies behind it is cut when the transfer goes on.
    private func reconcile(_ job: inout DownloadJob) {
        let id = job.record.id
        guard let part = FileSystem.status(of: directory.part(id)) else {
            job.noteSynced(0)
            job.record.download.bytesReceived = 0
            return
        }
        if part.links > 1, let name = job.record.download.filename, FileSystem.status(of: directory.file(name)) == part {
            // Published, but the crash came before the record said so: publication happens only to whole, synced, verified files.
            job.offset = part.size
            job.isPublished = true
        } else {
            job.offset = min(part.size, job.record.syncedBytes)
        }
        job.noteSynced(job.offset)
        job.record.download.bytesReceived = job.offset
        job.budget = RetryBudget(furthest: job.offset)
    }

    /// Removes files in `incomplete` that no record counts on.
    private func removeOrphans() {
        attempt("tidy \(directory.incompletePath)") { () throws(FileError) in
            for name in try FileSystem.entries(of: directory.incompletePath) {
                let id = name.hasSuffix(".part") ? DownloadID(String(name.dropLast(5))) : nil
                if let id, let job = jobs[id], job.offset > 0 { continue }
                try FileSystem.remove("\(directory.incompletePath)/\(name)")
            }
        }
    }
}
