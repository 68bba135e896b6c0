internal import HTTPClient
internal import HTTPCore

extension DownloadService {
    /// Changes a download. When it returns, the change is on disk and in effect: the queue has the new priority, a transfer the
    /// new speed limit; one that was given another URL has been stopped, and goes on from its bytes at that URL if they are
    /// still valid there. A paused, failed or cancelled download stays so.
    /// - Parameters:
    ///   - id: which download.
    ///   - change: what to change.
    ///   - isExpected: whether the download, as it stands, is the one that is meant to be changed.
    /// - Returns: the download afterwards.
    /// - Throws: `notFound`, `preconditionFailed`, `illegalTransition` (`url` or `filename` of a completed one), `invalid`,
    ///   `destinationForbidden`, `storeFailed`.
    public func change(
        _ id: DownloadID, _ change: DownloadChange, if isExpected: @Sendable (Download) -> Bool = { _ in true }
    ) async throws(DownloadError) -> Download {
        guard !isShuttingDown else { throw .shuttingDown }
        if let url = change.url { try judge(url) }
        if let filename = change.filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        // What is being published has its name already.
        while jobs[id]?.isFinishing == true { await rest(id) }
        guard !leaving.contains(id), let download = index.download(id) else { throw .notFound }
        guard isExpected(download) else { throw .preconditionFailed }
        if let job = jobs[id], !(job.isPublished && change.partBeforeCompletion != nil) {
            try await apply(change, to: job)
        } else {
            if let part = change.partBeforeCompletion {
                throw .illegalTransition(from: download.state, command: "new \(part)")
            }
            try await apply(change, toEnded: download)
        }
        guard let changed = index.download(id) else { throw .notFound }
        return changed
    }

    /// Refuses a destination that is known to be forbidden without asking a name server.
    /// - Parameter role: what it would be, if it isn't the URL of the download itself.
    func judge(_ url: HTTPURL, called role: String? = nil) throws(DownloadError) {
        if case .forbidden(let reason) = configuration.destinationGuard.judge(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }

    private func apply(_ change: DownloadChange, to job: DownloadJob) async throws(DownloadError) {
        let id = job.record.id
        let isRelinked = change.url.map { $0.string != job.url.string || change.authorization != nil } ?? false
        let filename = change.filename.map(FileNaming.normalised)
        let name = filename.map { rename(job, to: $0) }
        let edit = { (job: inout DownloadJob) in
            change.apply(to: &job.record.download)
            job.speedLimiter.setLimit(bytesPerSecond: job.record.download.speedLimit)
            if let name {
                job.record.requestedFilename = filename
                job.record.download.filename = name
                if job.record.download.state != .cancelled { job.reservedName = name }
            }
            if isRelinked, let url = change.url { job.relink(to: url, authorization: change.authorization) }
        }
        var lifecycle = DownloadLifecycle(job.record.download.state)
        if isRelinked, case .moved(let actions) = lifecycle.handle(.relinked) {
            try await carryOut(actions, on: id, entering: lifecycle.state, changing: edit)
            return
        }
        let commit = transition(id, edit)
        let revision = jobs[id]?.record.download.revision
        queue.reprioritise(id, to: jobs[id]?.record.download.priority ?? 0)
        schedule()
        if let error = await commit.failure() { throw DownloadError(error) }
        noteRecorded(id, revision)
    }

    /// Reserves a new name in place of the old one. A cancelled download has none until it is tried again.
    private func rename(_ job: DownloadJob, to wanted: String) -> String {
        guard job.record.download.state != .cancelled else { return wanted }
        let old = job.reservedName
        let name = reserve(wanted, for: job.record.id)
        if old?.lowercased() != name.lowercased() { releaseName(of: job.record.id) }
        return name
    }

    private func apply(_ change: DownloadChange, toEnded download: Download) async throws(DownloadError) {
        var download = download
        change.apply(to: &download)
        download.updatedAt = .now()
        download.revision += 1
        download.stamp = publisher.reserve()
        let commit = store.submit([.save(DownloadRecord(download))])
        publish(download, counters: nil)
        if let error = await commit.failure() { throw DownloadError(error) }
    }
}
