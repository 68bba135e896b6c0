internal import HTTPCore
package import System

/// Transfers, and the verification and publication of the file.
extension DownloadMachine {
    // MARK: - A transfer

    /// Returns the name to reserve for the file of a response that is about to be accepted; `nil`: it has a name, or
    /// the response is ignored.
    package func wantedName(_ accepted: TransferAcceptance, of operation: Operation) -> String? {
        guard let (transfer, reason) = currentTransfer, transfer.number == operation, !transfer.isDisowned,
            reason == nil || !accepted.isReplacement
        else { return nil }
        if record.lacksExtension, let name = record.requestedFilename,
            let suffix = FileNaming.suffix(
                mediaType: accepted.mediaType, contentDisposition: accepted.contentDisposition, target: accepted.finalURL)
        {
            return FileNaming.appending(suffix, to: name)
        }
        guard record.download.filename == nil else { return nil }
        return FileNaming.name(
            requested: record.requestedFilename, contentDisposition: accepted.contentDisposition, url: url,
            target: accepted.finalURL)
    }

    package mutating func accepted(
        _ operation: Operation, _ accepted: TransferAcceptance, _ name: ResponseName?, _ context: inout Context
    ) {
        switch phase {
        case .transferring(var transfer) where transfer.number == operation && !transfer.isDisowned:
            accept(accepted, name, &transfer, &context)
            phase = .transferring(transfer)
        case .stopping(var transfer, let reason) where transfer.number == operation && !transfer.isDisowned:
            if accepted.isReplacement {
                // Another version would discard the bytes that the waiting commands apply to.
                transfer.isDisowned = true
                context.actions.append(.discardNewPart(accepted.partGeneration))
            } else {
                accept(accepted, name, &transfer, &context)
            }
            phase = .stopping(transfer, because: reason)
        default:
            if accepted.isReplacement, lingering.contains(operation) {
                context.actions.append(.discardNewPart(accepted.partGeneration))
            }
        }
    }

    private mutating func accept(
        _ accepted: TransferAcceptance, _ name: ResponseName?, _ transfer: inout Transfer, _ context: inout Context
    ) {
        if accepted.startedOver { context.actions.append(.log(.startedOver(id, "the origin has another version, or no ranges"))) }
        // A name once chosen stays, even if the download starts over.
        if let name { take(name) }
        let isNew = accepted.written.byteCount == 0
        // A small file is complete so soon that this save would be wasted.
        let isSmall = accepted.body.entity.total.map { $0 <= PublishedFile.smallLength } ?? false
        let waits = isSmall && isNew && record.syncedBytes == 0 && !bytes.isCountedOn
        transfer.hasAccepted = true
        if record.entity != accepted.body.entity || record.announcedMirrors != accepted.announcedMirrors { saves.changeEntity() }
        record.entity = accepted.body.entity
        record.announcedMirrors = accepted.announcedMirrors
        if isNew {
            // Saved together with the coverage, which belongs to one generation.
            if record.partGeneration != accepted.partGeneration { saves.changeEntity() }
            record.partGeneration = accepted.partGeneration
            discardDurableBytes()
        }
        bytes.accept(accepted, from: record.entity?.source ?? url.string, before: lastOperation + 1)
        change(&context) { download in
            download.mediaType = accepted.mediaType ?? (isNew ? nil : download.mediaType)
            download.bytesTotal = accepted.body.entity.total
            download.resumable = accepted.body.isResumable
            download.bytesReceived = accepted.written.byteCount
        }
        if waits { return }
        let commit = save(&context)
        if accepted.isReplacement { transfer.replacement = Replacement(commit: commit) }
    }

    /// Gives the file its name, or adds the extension that a requested name lacks.
    package mutating func take(_ name: ResponseName) {
        if record.lacksExtension, record.requestedFilename != nil {
            record.requestedFilename = name.wanted
            record.lacksExtension = false
        }
        record.download.filename = name.reserved
    }

    /// Handles the end of the commit that discards the bytes of an earlier generation.
    mutating func replacementRecorded(
        _ error: StoreError?, _ transfer: Transfer, _ reason: StopReason?, _ context: inout Context
    ) {
        if let error {
            bytes.isCountedOn = true
            return resumeAfterReplacement(transfer, reason, DownloadFailure(error), &context)
        }
        context.actions.append(.discardOldParts(keeping: record.partGeneration))
        resumeAfterReplacement(transfer, reason, nil, &context)
    }

    /// The running transfer, or the one that is being stopped and the reason; `nil`: none.
    var currentTransfer: (Transfer, StopReason?)? {
        switch phase {
        case .transferring(let transfer): (transfer, nil)
        case .stopping(let transfer, let reason): (transfer, reason)
        default: nil
        }
    }

    /// Continues what has waited for the commit that discards the old bytes.
    /// - Parameter failure: The reason why the commit failed; `nil`: it has succeeded.
    private mutating func resumeAfterReplacement(
        _ transfer: Transfer, _ reason: StopReason?, _ failure: DownloadFailure?, _ context: inout Context
    ) {
        var transfer = transfer
        var reason = reason
        let ending = transfer.replacement?.ending
        transfer.replacement = nil
        if let failure {
            // The store still counts on the old bytes, so they stay and the new ones are removed.
            transfer.isDisowned = true
            resetCoverage(&context)
            context.actions.append(.discardNewPart(record.partGeneration))
            if reason == nil {
                reason = .failure(failure)
                if ending == nil { context.actions.append(.stop) }
            }
        }
        phase = reason.map { .stopping(transfer, because: $0) } ?? .transferring(transfer)
        if let ending { ended(transfer.number, ending, &context) }
    }

    mutating func checkpoint(_ written: Coverage, _ context: inout Context) {
        guard case .transferring(let transfer) = phase, transfer.hasAccepted, transfer.replacement == nil, !transfer.isDisowned,
            !bytes.isFlushing, written.byteCount > record.syncedBytes
        else { return }
        flush(written, trims: false, &context)
    }

    @discardableResult
    private mutating func flush(_ written: Coverage, trims: Bool, _ context: inout Context) -> Operation {
        let operation = nextOperation()
        bytes.beginFlush(operation)
        context.actions.append(.flush(operation, written, trims: trims))
        return operation
    }

    package mutating func flushed(
        _ operation: Operation, _ flushed: Coverage, _ fingerprints: [Fingerprint], _ error: FileError?,
        _ context: inout Context
    ) {
        guard bytes.endFlush(operation), phase != .removed else { return }
        let isCurrent = bytes.concerns(operation)
        if let error {
            context.actions.append(.log(.warning(error.message)))
            // The system reports such a failure once. A later flush would seem to succeed.
            if isCurrent || error.meansNoBytes { flushFailed(error, &context) }
        } else if isCurrent {
            durable(flushed, fingerprints, &context)
        }
        switch phase {
        case .flushing(operation): workStopped(&context)
        case .verifying(_, matches: true) where !bytes.isFlushing: publish(&context)
        case .idle, .delayed, .waiting: flushRest(&context)
        default: break
        }
    }

    /// Flushes bytes of an ended transfer that are not durable yet.
    private mutating func flushRest(_ context: inout Context) {
        guard written.byteCount > record.syncedBytes, !bytes.isFlushing else { return }
        flush(written, trims: state == .failed && !bytes.isCountedOn, &context)
    }

    /// Records bytes that are on the disk.
    private mutating func durable(_ flushed: Coverage, _ fingerprints: [Fingerprint], _ context: inout Context) {
        guard flushed.byteCount > record.syncedBytes else { return }
        switch phase {
        // The commit of the download's end may be under way, and this one would follow it.
        case .completing, .removing, .removed, .clearing: return
        default: break
        }
        record.segments = flushed.segments(total: record.download.bytesTotal, fingerprints: fingerprints)
        if saves.isEntitySaved {
            context.actions.append(
                .saveProgress(StoredProgress(id: id, bytesReceived: flushed.byteCount, segments: record.segments)))
        } else {
            // The store may not have the entity of these bytes, so the whole record is saved.
            record.download.bytesReceived = flushed.byteCount
            save(&context)
        }
    }

    private mutating func flushFailed(_ error: FileError, _ context: inout Context) {
        // If another program has truncated the file, the lost bytes read as zeros once the transfer extends it.
        end(because: .fileFailed(error), losingAll: error.meansNoBytes, &context)
    }

    private mutating func end(because reason: StopReason, losingAll isCut: Bool, _ context: inout Context) {
        if isCut { startFromNothing(&context) }
        switch phase {
        case .transferring(var transfer):
            if isCut { transfer.isDisowned = true }
            stop(transfer, because: reason, &context)
        case .stopping(var transfer, _):
            if isCut { transfer.isDisowned = true }
            phase = .stopping(transfer, because: reason)
        case .verifying:
            context.actions.append(.abandonVerification)
            if !isCut { trustOnlyDurable(&context) }
            switch reason {
            case .fileFailed(let error): fileFailed(error, &context)
            case .failure(let failure): fail(failure, retryAfter: nil, &context)
            case .commands, .shutdown: break
            }
        case .idle where isCut, .delayed where isCut, .waiting where isCut:
            change(&context) { _ in }
            save(&context)
        default:
            if !isCut { trustOnlyDurable(&context) }
        }
    }

    /// Ends the work on a download whose record the database cannot store. Values that the origin sent are dropped, so that
    /// the record can be stored.
    /// - Returns: Whether there is anything to drop, and nothing has to end first.
    mutating func endUnstorable(_ error: StoreError, _ context: inout Context) -> Bool {
        guard case .unstorable = error, record.entity != nil || record.download.mediaType != nil, state != .completed else {
            return false
        }
        switch phase {
        case .opening, .clearing, .flushing, .publishing, .completing, .removing, .removed: return false
        case .idle, .waiting, .delayed, .transferring, .stopping, .verifying: break
        }
        dropOriginValues(&context)
        end(because: .failure(DownloadFailure(error)), losingAll: true, &context)
        return true
    }

    private mutating func dropOriginValues(_ context: inout Context) {
        dropOriginName(&context)
        record.download.mediaType = nil
    }

    // MARK: - A transfer ends

    package mutating func ended(_ operation: Operation, _ ending: TransferEnding, _ context: inout Context) {
        if stopsLingering(operation, &context) { return }
        guard case (var transfer, let reason)? = currentTransfer, transfer.number == operation else { return }
        record.transferCrashes = 0
        if transfer.replacement != nil {
            transfer.replacement?.ending = ending
            phase = reason.map { .stopping(transfer, because: $0) } ?? .transferring(transfer)
            return
        }
        if !transfer.isDisowned {
            bytes.take(ending)
            resume = ending.resume
        }
        switch reason {
        case nil: finish(ending.outcome, &context)
        case .failure(let failure):
            if !transfer.isDisowned { trustOnlyDurable(&context) }
            fail(failure, retryAfter: nil, &context)
            drain(&context)
        case .fileFailed(let error):
            if !transfer.isDisowned { trustOnlyDurable(&context) }
            fileFailed(error, &context)
            drain(&context)
        case .commands, .shutdown:
            context.actions.append(.leaveQueue)
            context.actions.append(.forgetTransfer)
            stopped(keepsBytes: !transfer.isDisowned, &context)
        }
    }

    /// Ends a lingering transfer, and returns whether it was one. When none is left, a waiting download enters the queue.
    private mutating func stopsLingering(_ operation: Operation, _ context: inout Context) -> Bool {
        guard let index = lingering.firstIndex(of: operation) else { return false }
        lingering.remove(at: index)
        guard lingering.isEmpty else { return true }
        context.actions.append(.forgetTransfer)
        if phase == .waiting { enqueue(&context) }
        return true
    }

    private mutating func finish(_ outcome: TransferEnding.Outcome, _ context: inout Context) {
        switch outcome {
        case .whole: verify(&context)
        case .askAgain(let ask):
            context.actions.append(.forgetTransfer)
            phase = .idle
            let count = written.byteCount
            change(&context) { $0.bytesReceived = count }
            transfer(ask, &context)
        case .awaitRoom: returnToQueue(&context)
        case .fileFailed(let error): fileFailed(error, &context)
        case .lostBytes(let error):
            context.actions.append(.leaveQueue)
            context.actions.append(.forgetTransfer)
            phase = .idle
            finishingFailed(error, &context)
        case .cancelled:
            // No command has cancelled it, so it counts as a broken connection.
            fail(DownloadFailure(.transferBroken, "the transfer was interrupted"), retryAfter: nil, &context)
        case .failed(let failure, let retryAfter):
            // The request for the whole file brought a page, which has replaced no bytes. The durable bytes remain valid.
            if failure.code == .mediaTypeMismatch, written.byteCount == 0, record.syncedBytes > 0 { trustOnlyDurable(&context) }
            fail(failure, retryAfter: retryAfter, &context)
        }
    }

    /// Ends an attempt after a failed operation on a file. The download waits for its volume or for room with its
    /// bytes, or the attempt has failed.
    package mutating func fileFailed(_ error: FileError, _ context: inout Context) {
        switch error.kind {
        case .away where error.folder.isEmpty:
            // Bytes that were not flushed may be gone when the volume is back.
            trustOnlyDurable(&context)
            returnToQueue(&context)
        // btrfs counts the space of removed files as free before it can be used again.
        case .away, .noRoom,
            .full where error.neededBytes == 0 && !budget.hasWaitedForRoom:
            if error.kind == .full { budget.hasWaitedForRoom = true }
            let wanted = error.kind == .away ? "the file system of its folder" : "room"
            context.actions.append(.log(.warning("\(id) waits for \(wanted): \(error.message)")))
            returnToQueue(after: error, &context)
        default: fail(DownloadFailure(error), retryAfter: nil, &context)
        }
    }

    /// Returns the download to its position in the queue, with its bytes.
    /// - Parameter obstacle: The failure of a file system that must have passed before it enters the queue; `nil`: none.
    private mutating func returnToQueue(after obstacle: FileError? = nil, _ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        phase = .idle
        let count = written.byteCount
        change(&context) { download in
            download.state = .queued
            download.bytesReceived = count
        }
        enqueue(after: obstacle, &context)
        flushRest(&context)
    }

    /// Flushes the bytes of a stopped transfer, unless the next command discards them. Then the commands are carried out.
    package mutating func stopped(keepsBytes: Bool, _ context: inout Context) {
        let wantsBytes =
            switch commands.first?.request {
            case .cancel, .remove: false
            default: true
            }
        let isPausing = if case .pause = commands.first?.request { true } else { false }
        guard keepsBytes, wantsBytes, written.byteCount > record.syncedBytes || (isPausing && written.byteCount > 0) else {
            return workStopped(&context)
        }
        phase = .flushing(flush(written, trims: isPausing && !bytes.isCountedOn, &context))
    }

    /// Ends a failed attempt: schedules another one, or fails the download. Valid bytes are kept either way.
    package mutating func fail(_ failure: DownloadFailure, retryAfter: Duration?, _ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        let policy = context.retryPolicy.applying(record.download.retry)
        let failure = policy.judging(failure)
        let verdict = budget.verdict(
            on: failure, bytesReceived: written.byteCount, retryAfter: retryAfter, policy: policy, using: &context.random)
        switch verdict {
        case .retry(let delay):
            record.retryHold = retryAfter == nil ? nil : RetryHold(delay, from: context.now)
            let count = written.byteCount
            change(&context) { download in
                download.state = .retrying
                download.error = failure
                download.bytesReceived = count
            }
            let operation = nextOperation()
            phase = .delayed(operation)
            context.actions.append(.setTimer(.retry(operation), after: delay))
            context.actions.append(.log(.retry(record.download, after: delay)))
            save(&context)
        case .fail:
            // The origin's `Retry-After` also holds if a command resumes the download.
            record.retryHold = retryAfter.map { RetryHold(min($0, context.retryPolicy.longestRetryAfter), from: context.now) }
            let count = written.byteCount
            change(&context) { download in
                download.state = .failed
                download.error = failure
                download.bytesReceived = count
            }
            phase = .idle
            save(&context)
        }
        flushRest(&context)
    }

    // MARK: - Finishing

    package mutating func verify(_ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        let operation = nextOperation()
        phase = .verifying(operation, matches: false)
        noteProgress(bytesReceived: written.byteCount)
        context.actions.append(.verify(operation, length: written.prefix, expected: expectedDigests))
    }

    package mutating func verified(_ operation: Operation, _ outcome: VerificationOutcome, _ context: inout Context) {
        switch outcome {
        case .matches where !bytes.isFlushing: publish(&context)
        case .matches: phase = .verifying(operation, matches: true)
        case .differs(let expected, let actual)
        where bytes.hasMixedSources && !record.distrustsMirrors && resume.replacedSources.isEmpty:
            context.actions.append(.log(.mirrorDropped(id, "the file is \(actual) and should be \(expected)")))
            record.distrustsMirrors = true
            startOver(&context)
        case .differs(let expected, let actual):
            // The wrong source may be the download's own URL, so mirrors are trusted again.
            record.distrustsMirrors = false
            let failure = DownloadFailure(.checksumMismatch, "the file is \(actual), and should be \(expected)")
            if let source = wrongSource {
                context.actions.append(.log(.startedOver(id, "\(failure.message); another source is asked")))
                return startOver(without: source, because: failure, &context)
            }
            // Wrong bytes are of no use to a later attempt.
            discardBytes(&context)
            dropOriginName(&context)
            context.actions.append(.discardPart)
            fail(failure, retryAfter: nil, &context)
        case .failed(let error): finishingFailed(error, &context)
        }
    }

    private mutating func publish(_ context: inout Context) {
        let name =
            record.download.filename
            ?? FileNaming.name(requested: record.requestedFilename, contentDisposition: nil, url: url)
        let path = FilePath(name, in: record.download.folder)
        let operation = nextOperation()
        phase = .publishing(operation, isWithdrawn: false)
        context.actions.append(.publish(operation, path: path))
    }

    /// Fetches the file anew, at its former position in the queue.
    private mutating func startOver(
        _ context: inout Context, from decision: ResumeDecision = ResumeDecision(),
        keeping: (inout DownloadRecord) -> Void = { _ in }
    ) {
        startFromNothing(&context)
        resume = decision
        keeping(&record)
        change(&context) { $0.state = .queued }
        // The distrust of mirrors must be durable before any byte that is fetched without them.
        save(&context)
        enqueue(&context)
    }

    /// The source to leave out after wrong bytes; `nil` if no other is known. It is the URL that was asked if there is
    /// another one, and otherwise the target of its redirects.
    private var wrongSource: String? {
        let (asked, replaced) = (record.entity?.source ?? url.string, resume.replacedSources)
        let others = ([url.string] + record.mirrors + record.announcedMirrors).filter { $0 != asked && !replaced.contains($0) }
        if !others.isEmpty, !replaced.contains(asked) { return asked }
        guard let target = bytes.target, !replaced.contains(target), replaced.count < Self.maximumWrongTargets else { return nil }
        return target
    }

    /// The number of sources with wrong bytes from which no further target of redirects is tried.
    private static let maximumWrongTargets = 3

    /// Fetches the file anew from the other sources, one at a time.
    private mutating func startOver(without source: String, because failure: DownloadFailure, _ context: inout Context) {
        let replaced = resume.replacedSources.union([source])
        let (announced, digest) = (record.announcedMirrors, record.entity?.digest)
        startOver(&context, from: ResumeDecision(replacing: replaced, because: failure)) { record in
            // Announced mirrors count only with the digest that proves their bytes.
            guard let digest, !announced.isEmpty else { return }
            record.entity = SavedEntity(digest: digest)
            record.announcedMirrors = announced
        }
    }

    private mutating func finishingFailed(_ error: FileError, _ context: inout Context) {
        if error.kind == .altered {
            context.actions.append(.log(.startedOver(id, error.message)))
            return startOver(&context)
        }
        if error.meansNoBytes {
            discardBytes(&context)
            dropOriginName(&context)
            context.actions.append(.discardPart)
            return fail(DownloadFailure(.ioError, error.message, retryable: true), retryAfter: nil, &context)
        }
        if error.losesBytes { trustOnlyDurable(&context) }
        fileFailed(error, &context)
    }

    package mutating func published(_ result: Result<PublishedFile, FileError>, _ context: inout Context) {
        switch result {
        case .failure(let error):
            finishingFailed(error, &context)
            drain(&context)
        case .success(let file):
            let operation = nextOperation()
            let record = completedRecord(file, context.now, context.retention)
            announceEnd(as: record.download, &context)
            saves.beginEnd(operation)
            phase = .completing(operation, file, at: context.now)
            context.actions.append(.saveCompletion(operation, record, announcing: saves.announcements.messages))
        }
    }

    /// Handles an abandoned publication. Small files are flushed at publication only, so their bytes are flushed here.
    package mutating func withdrawn(_ context: inout Context) {
        stopped(keepsBytes: true, &context)
    }

    private func completedRecord(_ file: PublishedFile, _ now: Timestamp, _ retention: Retention) -> DownloadRecord {
        var record = record
        let length = written.prefix
        record.download.state = .completed
        record.download.filename = file.path.name
        record.download.folder = file.path.folder
        record.download.sha256Bytes = file.sha256
        record.download.file = file.identity
        record.download.fileMissing = false
        record.download.bytesReceived = length
        record.download.bytesTotal = length
        record.download.bytesPerSecond = 0
        record.download.stalled = false
        record.download.error = nil
        record.download.arrival = nil
        record.download.endedAt = now
        record.download.expiresAt = retention.expiry(of: record.download)
        record.download.noteChange(at: now)
        record.forgetTransfer()
        return record
    }

    /// Completes the download once its commit has ended. The complete file has its name even if the commit failed, so the
    /// download is published as completed. After a failed commit, the next start finds the file under both its names.
    mutating func completionCommitted(
        _ file: PublishedFile, at time: Timestamp, _ commit: PendingSaves.Commit, _ error: StoreError?, _ context: inout Context
    ) {
        if error == .fenced { return completionRefused(file, &context) }
        if let error, case .unstorable = error {
            saves.announcements.withdraw(commit.announces)
            dropOriginValues(&context)
            startFromNothing(&context)
            context.actions += [.discardPart, .discardFile(file)]
            fail(DownloadFailure(error), retryAfter: nil, &context)
            return drain(&context)
        }
        record = completedRecord(file, time, context.retention)
        resetCoverage(&context)
        phase = .idle
        context.actions.append(.assignName(file.path))
        if let error { saveLater(commit, error, &context) } else { context.actions.append(.finishPublishing) }
        context.actions.append(.publishVersion(record.download))
        context.actions.append(.log(.transition(record.download)))
        drain(&context)
    }

    /// Ends a publication that the database has refused: another replica owns the download, and no record will name the file.
    private mutating func completionRefused(_ file: PublishedFile, _ context: inout Context) {
        phase = .idle
        context.actions.append(.discardFile(file))
        drain(&context)
    }
}
