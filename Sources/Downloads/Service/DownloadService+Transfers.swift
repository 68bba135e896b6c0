internal import HTTPCore

extension DownloadService {
    /// Takes a transfer's report.
    func handle(_ report: TransferReport) {
        guard let job = jobs[report.id], job.generation == report.generation else { return }
        switch report.event {
        case .accepted(let accepted): accept(accepted, report.id)
        case .mirrorDropped(let reason): log(.mirrorDropped(report.id, reason))
        case .warning(let warning): log(.warning(warning))
        case .ended(let ending):
            // While the store records that old bytes are given up, the end of the new transfer waits.
            if jobs[report.id]?.swap != nil {
                jobs[report.id]?.swap?.ending = ending
            } else {
                end(ending, report.id)
            }
        }
    }

    // MARK: - Bytes begin to be placed

    private func accept(_ accepted: TransferReport.Accepted, _ id: DownloadID) {
        guard let job = jobs[id], !job.disownsBytes, !accepted.isReplacement || job.record.download.state == .downloading else {
            // A command came first, and the record will not learn of the entity that these bytes are of: they do not count. A
            // pause alone is no such command, unless the bytes of another version would have to make room for them.
            jobs[id]?.disownsBytes = true
            if accepted.isReplacement {
                discardReplacement(of: id)
            } else if accepted.written.byteCount == 0 {
                jobs[id]?.written = Coverage()
                jobs[id]?.restartHash()
            }
            return
        }
        if accepted.startedOver { log(.startedOver(id, "the origin has another version, or no ranges")) }
        let name = chooseName(accepted, id)
        // A small file is there before it is worth telling the store of it.
        let isSmall = accepted.body.entity.total.map { $0 <= StreamingHasher.smallFile } ?? false
        let isDeferred = isSmall && accepted.written.byteCount == 0 && job.record.syncedBytes == 0 && !job.mayBeCountedOn
        let commit = transition(id, isRecorded: !isDeferred) { job in
            job.part = accepted.part
            job.hasUnsavedEntity = isDeferred
            job.record.entity = accepted.body.entity
            if accepted.written.byteCount == 0 { job.noteSynced(Coverage()) }
            job.record.download.filename = name
            job.record.download.mediaType =
                accepted.mediaType ?? (accepted.written.byteCount == 0 ? nil : job.record.download.mediaType)
            job.record.download.bytesTotal = accepted.body.entity.total
            job.record.download.resumable = accepted.body.isResumable
            job.record.download.bytesReceived = accepted.written.byteCount
            if accepted.isReplacement { job.swap = DownloadJob.Swap() }
        }
        if accepted.isReplacement {
            Task {
                let isRecorded = (try? await commit.wait()) != nil
                await self.swapParts(id, isRecorded: isRecorded)
            }
        }
    }

    /// Puts the replacement in the part file's place, now that nothing counts on the old bytes.
    private func swapParts(_ id: DownloadID, isRecorded: Bool) async {
        var failure: FileError?
        if isRecorded {
            do throws(FileError) {
                try await depot.promoteReplacement(id)
            } catch {
                failure = error
            }
        } else {
            failure = FileError(.other, "the new version of \(id) cannot be recorded")
        }
        let ending = jobs[id]?.swap?.ending
        jobs[id]?.swap = nil
        if let failure {
            // The old bytes are still in place: nothing that is known of the new ones is true of them.
            log(.warning(failure.message))
            jobs[id]?.swapFailure = DownloadFailure(failure)
            jobs[id]?.disownsBytes = true
            jobs[id]?.part = nil
            jobs[id]?.written = Coverage()
            jobs[id]?.restartHash()
            if !isRecorded { jobs[id]?.mayBeCountedOn = true }
            discardReplacement(of: id)
            jobs[id]?.attempt?.cancel()
        }
        if let ending { end(ending, id) }
    }

    private func chooseName(_ accepted: TransferReport.Accepted, _ id: DownloadID) -> String? {
        guard let job = jobs[id] else { return nil }
        // A name once chosen stays, also when the download starts over.
        if let name = job.reservedName { return name }
        let wanted = FileNaming.name(
            requested: job.record.requestedFilename, contentDisposition: accepted.contentDisposition, url: job.url)
        let name = reserve(wanted, for: id)
        jobs[id]?.reservedName = name
        return name
    }

    private func discardReplacement(of id: DownloadID) {
        attempt("remove the new version of \(id)") { () throws(FileError) in _ = try depot.removeReplacement(id) }
    }

    // MARK: - A transfer ends

    private func end(_ ending: TransferReport.Ending, _ id: DownloadID) {
        guard let job = jobs[id] else { return }
        running.remove(id)
        // Given up meanwhile, or never the record's: see `disownsBytes`.
        if !job.disownsBytes {
            jobs[id]?.written = ending.written
            jobs[id]?.hasher = ending.hasher
            jobs[id]?.resume = ending.resume
            if ending.hasMixedSources { jobs[id]?.hasMixedSources = true }
            jobs[id]?.mirrorDigests += ending.mirrorDigests.filter { !job.mirrorDigests.contains($0) }
            if job.syncFailure != nil { trustOnlySynced(id) }
        }

        guard job.record.download.state == .downloading, !isShuttingDown, !leaving.contains(id) else {
            settle(id)
            return
        }
        let failure = job.swapFailure ?? job.syncFailure
        switch failure.map({ .failed($0, retryAfter: nil) }) ?? ending.outcome {
        case .whole:
            finish(id)
            schedule()
        case .askAgain(let ask):
            askAgain(id, ask)
        case .cancelled:
            // Nobody asked for it: as if the connection had broken.
            fail(id, DownloadFailure(.transferBroken, "the transfer was interrupted"), retryAfter: nil)
        case .failed(let failure, let retryAfter):
            fail(id, failure, retryAfter: retryAfter)
        }
    }

    /// Ends an attempt that failed: tries again later, or gives up. Valid bytes are kept either way.
    func fail(_ id: DownloadID, _ failure: DownloadFailure, retryAfter: Duration?) {
        guard let job = jobs[id] else { return }
        var random = SystemRandom()
        var budget = job.budget
        let verdict = budget.verdict(
            on: failure, bytesReceived: job.written.byteCount, retryAfter: retryAfter, policy: retryPolicy, using: &random)
        var lifecycle = DownloadLifecycle(job.record.download.state)
        guard case .moved(let actions) = lifecycle.handle(.attemptFailed(verdict)) else {
            settle(id)
            return
        }
        queue.remove(id)
        let commit = transition(id) { job in
            job.budget = budget
            job.record.download.state = lifecycle.state
            job.record.download.error = failure
            job.record.download.bytesReceived = job.written.byteCount
            for action in actions { job.apply(action) }
        }
        for case .scheduleRetry(let delay) in actions {
            scheduleRetry(id, after: delay)
            if let job = jobs[id] { log(.retry(job.record.download, after: delay)) }
        }
        insist(on: commit, id)
        settle(id)
        schedule()
    }
}
