extension DownloadService {
    /// Takes over what the store had kept and what the last run left in the directory.
    func adopt(_ records: [DownloadRecord]) {
        var published = PublishedFiles(directory: directory)
        publisher.reserveCapacity(records.count)
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
            reconcile(&job, &published)
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

    /// Shows a download as it was left: nobody listens yet.
    private func show(_ download: Download) {
        publisher.restore(download)
    }

    /// Trusts of a part file only what was recorded as synced. What lies behind it is cut when the transfer goes on.
    private func reconcile(_ job: inout DownloadJob, _ published: inout PublishedFiles) {
        let id = job.record.id
        guard let part = FileSystem.status(of: directory.part(id)) else {
            job.noteSynced(Coverage())
            job.record.download.bytesReceived = 0
            return
        }
        if part.links > 1, let name = published.name(of: part, likely: job.record.download.filename) {
            // Published, but the crash came before the record said so: publication happens only to whole, synced, verified files.
            job.written = Coverage(prefix: part.size)
            job.isPublished = true
            job.record.download.filename = name
        } else {
            job.written = Coverage(job.record.segments).clipped(to: part.size)
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
            for name in try FileSystem.entries(of: directory.incompletePath) {
                let id = name.hasSuffix(".part") ? DownloadID(String(name.dropLast(5))) : nil
                if let id, let job = jobs[id], job.written.byteCount > 0 { continue }
                try FileSystem.remove("\(directory.incompletePath)/\(name)")
            }
        }
    }
}

/// Finds the names under `files` of part files that have one there.
private struct PublishedFiles {
    let directory: DataDirectory
    /// Names by inode; read once, and only if some file isn't found under its likely name.
    private var names: [UInt64: String]?

    init(directory: DataDirectory) {
        self.directory = directory
    }

    /// The name of a part file under `files`; `nil` if it has none there.
    /// - Parameter likely: the name that the record tells. It may be behind: another may have been free when the file was published.
    mutating func name(of part: FileStatus, likely: String?) -> String? {
        if let likely, FileSystem.status(of: directory.file(likely)) == part { return likely }
        let names = self.names ?? allNames()
        self.names = names
        return names[part.inode]
    }

    private func allNames() -> [UInt64: String] {
        var names: [UInt64: String] = [:]
        for name in (try? FileSystem.entries(of: directory.filesPath)) ?? [] {
            if let status = FileSystem.status(of: directory.file(name)), status.links > 1 { names[status.inode] = name }
        }
        return names
    }
}
