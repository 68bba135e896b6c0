extension DownloadService {
    /// Carries out a command. When it returns, the new state is on disk and the transfer has come to rest accordingly.
    /// - Parameters:
    ///   - command: what to do.
    ///   - id: which download.
    /// - Returns: the download afterwards.
    /// - Throws: `notFound`, `illegalTransition`, `storeFailed`.
    public func perform(_ command: DownloadCommand, on id: DownloadID) async throws(DownloadError) -> Download {
        guard !isShuttingDown else { throw .shuttingDown }
        // A transfer that has all its bytes is let finish: it cannot be taken back once it is published.
        while jobs[id]?.isFinishing == true { await rest(id) }
        guard !leaving.contains(id) else { throw .notFound }

        guard let job = jobs[id] else {
            guard let ended = index.download(id) else { throw .notFound }
            throw .illegalTransition(from: ended.state, command: command.rawValue)
        }
        var lifecycle = DownloadLifecycle(job.record.download.state)
        switch lifecycle.handle(.command(command)) {
        case .refused: throw .illegalTransition(from: job.record.download.state, command: command.rawValue)
        case .unchanged where job.isUnrecorded: try await record(id)
        case .unchanged: break
        case .moved(let actions):
            // Whoever is stopped and asked to go on later comes after those who wait.
            try await carryOut(actions, on: id, entering: lifecycle.state) { $0.ticket = nil }
        }
        guard let download = index.download(id) else { throw .notFound }
        return download
    }

    /// Records a download as it stands: what an earlier command brought about could not be kept, and is asked for again.
    private func record(_ id: DownloadID) async throws(DownloadError) {
        let commit = transition(id) { _ in }
        let revision = jobs[id]?.record.download.revision
        if let error = await commit.failure() { throw DownloadError(error) }
        noteRecorded(id, revision)
    }

    /// The store has taken a download as it was at this revision: what an earlier command brought about, if nothing has changed since.
    func noteRecorded(_ id: DownloadID, _ revision: UInt64?) {
        guard let job = jobs[id], job.isUnrecorded, job.record.download.revision == revision else { return }
        jobs[id]?.isUnrecorded = false
        if job.record.download.state == .cancelled, job.isIdle {
            discardParts(of: id).freeLater()
            jobs[id]?.mayBeCountedOn = false
        }
    }

    /// Removes a record; a live download is cancelled first.
    /// - Parameters:
    ///   - id: which download.
    ///   - deletesFile: whether the finished file goes too.
    ///   - isExpected: whether the download, as it stands, is the one that is meant to go.
    /// - Throws: `notFound`, `preconditionFailed`, `storeFailed`.
    public func remove(
        _ id: DownloadID, deletingFile deletesFile: Bool, if isExpected: @Sendable (Download) -> Bool = { _ in true }
    ) async throws(DownloadError) {
        guard !isShuttingDown else { throw .shuttingDown }
        // What is being published is another download in a moment.
        while jobs[id]?.isFinishing == true { await rest(id) }
        guard !leaving.contains(id), let found = index.download(id) else { throw .notFound }
        guard isExpected(found) else { throw .preconditionFailed }
        // From here on no other command is taken, or what it saves would bring the record back.
        leaving.insert(id)
        defer { leaving.remove(id) }
        jobs[id]?.retryTimer?.cancel()
        jobs[id]?.startsWhenIdle = false
        stopTransfer(id)
        await rest(id)
        guard let download = index.download(id) else { throw .notFound }
        var isFileGone = download.fileMissing
        let stamp = publisher.reserve()
        do throws(StoreError) {
            try await removeRecord(of: download, at: stamp, deletingFile: deletesFile, isFileGone: &isFileGone)
        } catch {
            publisher.abandon(stamp)
            leaving.remove(id)
            requeue(id)
            if isFileGone { await noteFile(of: id, isMissing: true) }
            throw DownloadError(error)
        }
        releaseName(of: id)
        jobs[id] = nil
        let parts = discardParts(of: id)
        // Once it is gone, its name may be another's.
        let file = deletesFile && !isFileGone ? removeFile(of: download) : RemovedFiles()
        publisher.remove(id, stamp: stamp)
        log(.removed(id))
        schedule()
        await parts.free()
        await file.free()
    }

    /// Removes a record for good, and tells a webhook. On a full disk the bytes go first: without their room the removal cannot be
    /// recorded. A crash in between leaves a record whose bytes are gone, which shows as soon as they are wanted.
    private func removeRecord(
        of download: Download, at stamp: EventID, deletingFile deletesFile: Bool, isFileGone: inout Bool
    ) async throws(StoreError) {
        let id = download.id
        let delivery = cancellation(of: id)
        let changes = [.remove(id, stamp: stamp)] + (delivery.map { [StoreChange.keepDelivery($0)] } ?? [])
        if let error = await store.submit(changes).failure() {
            guard error == .full else { throw error }
            if jobs[id] != nil {
                transition(id, isRecorded: false) { job in
                    job.forgetBytes()
                    job.mayBeCountedOn = true
                }
                await discardParts(of: id).free()
            } else if deletesFile, !isFileGone {
                isFileGone = true
                await removeFile(of: download).free()
            }
            try await store.submit(changes).wait()
        }
        if let delivery { Task { [courier] in await courier.post(delivery, after: .nothing) } }
    }

    private func removeFile(of download: Download) -> RemovedFiles {
        guard download.state == .completed, let name = download.filename else { return RemovedFiles() }
        return removeFiles("remove the file of \(download.id)", [directory.file(name)])
    }

    /// What the webhook of a live download is told when its record is removed.
    private func cancellation(of id: DownloadID) -> WebhookDelivery? {
        guard var record = jobs[id]?.record, record.download.state.isLive else { return nil }
        record.download.state = .cancelled
        record.download.updatedAt = .now()
        record.download.bytesPerSecond = 0
        record.download.stalled = false
        return delivery(of: record)
    }

    /// Lets a download go on that was stopped in vain.
    private func requeue(_ id: DownloadID) {
        switch jobs[id]?.record.download.state {
        case .queued, .downloading, .retrying:
            transition(id) { job in
                job.retryTimer = nil
                job.record.download.state = .queued
                job.record.download.bytesReceived = job.written.byteCount
            }
            enqueue(id)
        case .paused, .failed, .cancelled:
            // What the store had not taken yet, it was not told while the record was to be removed.
            insist(on: transition(id) { _ in }, id)
        case .completed, nil: break
        }
        schedule()
    }

    /// Notes that a finished file was found to be gone, or to be there again, so that the record says so.
    /// - Parameters:
    ///   - id: the download whose file it is.
    ///   - isMissing: whether it is gone.
    public func noteFile(of id: DownloadID, isMissing: Bool) async {
        guard !leaving.contains(id), var download = index.download(id), download.state == .completed,
            download.fileMissing != isMissing
        else { return }
        download.fileMissing = isMissing
        download.updatedAt = .now()
        download.revision += 1
        download.stamp = publisher.reserve()
        let commit = store.submit([.save(DownloadRecord(download))])
        publish(download, counters: nil)
        try? await commit.wait()
    }

    // MARK: - Carrying out

    /// Does what a command's transition asks for. The record changes at once and in one step; what takes time follows, and
    /// looks again at the state wherever another command may have come in between.
    func carryOut(
        _ actions: [DownloadLifecycle.Action], on id: DownloadID, entering state: DownloadState,
        changing change: (inout DownloadJob) -> Void = { _ in }
    ) async throws(DownloadError) {
        if actions.contains(.leaveQueue) { queue.remove(id) }
        jobs[id]?.startsWhenIdle = false
        if actions.contains(.stopTransfer) { stopTransfer(id) }
        jobs[id]?.commands += 1
        let command = jobs[id]?.commands
        var commit = transition(id) { job in
            job.record.download.state = state
            job.record.download.bytesReceived = job.attempt?.counters.received ?? job.written.byteCount
            for action in actions { job.apply(action) }
            change(&job)
        }
        if actions.contains(.discardBytes) { releaseName(of: id) }
        // A transfer that an earlier command has stopped may still be about to end, too.
        if actions.contains(.stopTransfer) || actions.contains(.discardBytes) { await rest(id) }
        if actions.contains(.stopTransfer), jobs[id]?.commands == command {
            // The bytes are synced now, and the record says how many.
            commit = transition(id) { job in
                job.record.download.bytesReceived = job.written.byteCount
                // The stopped attempt has brought back what it learnt.
                if actions.contains(.forgetFailures) { job.resume = ResumeDecision() }
            }
        }
        var failure = await commit.failure()
        if failure == .full, actions.contains(.discardBytes), jobs[id]?.commands == command {
            // Without the room of the bytes that are given up, nothing can be recorded.
            jobs[id]?.mayBeCountedOn = true
            await discardParts(of: id).free()
            commit = transition(id) { _ in }
            failure = await commit.failure()
        }
        if failure == nil {
            jobs[id]?.isUnrecorded = false
        } else {
            // What this run does follows the state that everybody has been shown, also if it cannot be kept.
            jobs[id]?.isUnrecorded = true
            if actions.contains(.discardBytes) { jobs[id]?.mayBeCountedOn = true }
            insist(on: commit, id)
        }
        var removed = RemovedFiles()
        if jobs[id]?.commands == command {
            // Only now: had the record still spoken of bytes when their file was gone, a crash in between would have lost them.
            if actions.contains(.discardBytes), failure == nil {
                removed = discardParts(of: id)
                jobs[id]?.mayBeCountedOn = false
            }
            if actions.contains(.enterQueue) { enqueue(id) }
        }
        schedule()
        await removed.free()
        if let failure { throw DownloadError(failure) }
    }

    /// Tells a transfer to stop, and gives its slot away; does not wait for its end.
    private func stopTransfer(_ id: DownloadID) {
        queue.remove(id)
        jobs[id]?.attempt?.cancel()
    }

    /// Returns when the transfer that runs now does not run, sync or publish any more. Another may have begun by then.
    func rest(_ id: DownloadID) async {
        let generation = jobs[id]?.generation
        while let job = jobs[id], !job.isIdle, job.generation == generation {
            await withCheckedContinuation { jobs[id]?.restWaiters.append($0) }
        }
    }

    /// Removes the partial bytes of a download.
    func discardParts(of id: DownloadID) -> RemovedFiles {
        removeFiles("remove the partial bytes of \(id)", [directory.part(id), directory.replacement(id)])
    }

    /// Removes the names of files; the caller says when their room is given back.
    func removeFiles(_ purpose: String, _ paths: [String]) -> RemovedFiles {
        var removed = RemovedFiles()
        attempt(purpose) { () throws(FileError) in
            for path in paths { try removed.remove(path) }
        }
        return removed
    }

    /// Does something with files whose failure changes nothing but deserves a line in the log.
    func attempt(_ purpose: String, _ body: () throws(FileError) -> Void) {
        do throws(FileError) {
            try body()
        } catch {
            log(.warning("cannot \(purpose): \(error.message)"))
        }
    }
}
