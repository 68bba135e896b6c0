package import HTTPCore

/// The life of one download, as a value: it takes events and returns actions.
///
/// It makes all decisions about the download and has no side effects. Time, chance, names and positions come with the
/// events, so the same events lead to the same actions. Illegal states cannot be represented: each phase has exactly the
/// data that it needs. Everything that happens outside (a transfer, a flush, a commit) has a number. A late result of
/// something that was abandoned is recognised by its number and ignored.
///
///     waiting ─→ opening ─→ transferring ─→ verifying ─→ publishing ─→ completing ─→ idle
///
/// A transfer that is stopped goes through `stopping` and `flushing`, and then the commands that wait are carried out. Bytes
/// that are discarded go through `clearing`, a removed download through `removing`. `delayed` waits for the next attempt.
///
/// Commands are carried out in order of arrival. A command that needs the transfer to end waits in `commands` until it has
/// ended, or for ``patience`` at most. The result of a command is the download as the command made it, once that is durable.
///
/// The machine is large, and a call from another module copies it. The answers that the service needs after each event are
/// therefore stored, in ``activity``.
package struct DownloadMachine: Sendable {
    /// The number of something that was begun outside and has a result.
    package typealias Operation = UInt64

    /// The longest wait of a command for a transfer, flush or publication to end. After that it goes on without, or
    /// stays unconfirmed.
    package static let patience: Duration = .seconds(4)
    /// The first and the longest delay between attempts to save a record.
    package static let firstSaveDelay: Duration = .milliseconds(500)
    static let longestSaveDelay: Duration = .seconds(30)

    package var record: DownloadRecord
    package var url: HTTPURL
    /// The work that is under way.
    package var phase = Phase.idle
    package var bytes: PartialBytes
    var saves: PendingSaves
    package var commands = CommandQueue()
    package var budget: RetryBudget
    package var resume = ResumeDecision()
    /// Transfers that did not end in time. No other transfer begins before they have ended.
    package var lingering: [Operation] = []
    /// The last operation before the service began to stop; `nil`: it is not stopping.
    var shutdownAfter: Operation?
    /// The number of the last operation.
    var lastOperation: Operation = 0
    /// The activity after the last event.
    package private(set) var activity: Activity = []

    /// Makes the machine of a record.
    /// - Parameters:
    ///   - record: The record, with the entity and the generation of the bytes that are present.
    ///   - url: The record's URL.
    ///   - written: The bytes of the part file that can be trusted.
    ///   - publishedName: The path under `files` that the file already has; `nil`: none.
    ///   - isEntitySaved: Whether that entity and that generation are durable.
    package init(
        _ record: DownloadRecord, url: HTTPURL, written: Coverage = Coverage(), publishedName: PublishedName? = nil,
        isEntitySaved: Bool = true
    ) {
        self.record = record
        self.url = url
        bytes = PartialBytes(written, publishedName: publishedName, of: record)
        saves = PendingSaves(isEntitySaved: isEntitySaved)
        budget = RetryBudget(furthest: written.byteCount)
        activity = currentActivity
    }

    package var id: RecordID { record.id }
    /// The bytes of the part file that belong to the record's entity, whether durable or not.
    package var written: Coverage { bytes.written }
    package var state: DownloadState { record.download.state }
    package var isShuttingDown: Bool { shutdownAfter != nil }
}

// MARK: - Published state

extension DownloadMachine {
    /// The download as readers see it, without the counters of its transfer.
    package var shown: Download {
        var shown = record.download
        if written.byteCount == shown.bytesReceived { shown.receivedRanges = written.outline(atMost: Download.rangeLimit) }
        return shown
    }

    /// Whether the download holds a slot.
    var holdsSlot: Bool {
        switch phase {
        case .opening, .transferring, .stopping: true
        default: false
        }
    }

    /// Whether the file is being verified or published.
    var isFinishing: Bool {
        switch phase {
        case .verifying, .publishing, .completing: true
        default: false
        }
    }

    /// Whether failed attempts count against the retry limit. The record does not contain their number.
    package var countsFailures: Bool {
        switch state {
        case .queued, .downloading, .retrying: budget.attemptsWithoutProgress > 0 || budget.hasWaitedForRoom
        case .paused, .completed, .failed, .cancelled: false
        }
    }

    /// Whether the present record could not be saved yet.
    package var isUnsaved: Bool { saves.failures > 0 }

    /// Notes the transfer's progress, so that results of commands contain it.
    package mutating func noteProgress(
        bytesReceived: Int64, bytesPerSecond: Int64 = 0, stalled: Bool = false, ranges: [Range<Int64>]? = nil
    ) {
        record.download.bytesReceived = bytesReceived
        record.download.bytesPerSecond = bytesPerSecond
        record.download.stalled = stalled
        if let ranges { record.download.receivedRanges = ranges }
    }

    /// Notes the number of connections. 0 is ignored, so the last number stays when the transfer ends.
    package mutating func noteConnections(_ count: Int) {
        if count > 0 { record.download.segments = count }
    }

    /// Whether the download fails if the next transfer fails and brings no bytes.
    package func isLastAttempt(_ policy: RetryPolicy) -> Bool { budget.isLastAttempt(policy.applying(record.download.retry)) }

    /// The starting point of the next transfer: the bytes, the resume decision, and whether the store counts on any bytes.
    package var start: (written: Coverage, resume: ResumeDecision, hasRecordedBytes: Bool) {
        (written, resume, record.syncedBytes > 0 || bytes.isCountedOn)
    }

    /// The digests that the whole file must match, from the client, an earlier publication, the origin and the mirrors.
    package var expectedDigests: [Checksum] {
        let published = bytes.publishedName.flatMap { Checksum(.sha256, bytes: $0.sha256) }
        return [record.download.checksum, published, record.entity?.digest].compactMap(\.self) + bytes.mirrorDigests
    }
}

// MARK: - Events

extension DownloadMachine {
    /// Handles an event and appends the required actions to the context.
    package mutating func handle(_ event: Event, _ context: inout Context) {
        defer { activity = currentActivity }
        switch event {
        case .admitted: admit(&context)
        case .command(let command): take(command, &context)
        case .fact(let fact): supply(fact, &context)
        case .slotAcquired(let obstacle): slotAcquired(obstacle, &context)
        case .partOpened(let operation):
            if phase == .opening(operation) { ask(&context) }
        case .partUnusable(let operation, let error):
            if phase == .opening(operation) { partUnusable(error, &context) }
        case .accepted(let operation, let acceptance, let name): accepted(operation, acceptance, name, &context)
        case .ended(let operation, let ending): ended(operation, ending, &context)
        case .checkpointDue(let written): checkpoint(written, &context)
        case .flushed(let operation, let written, let error, let fingerprints):
            flushed(operation, written, fingerprints, error, &context)
        case .committed(let operation, let error): committed(operation, error, &context)
        case .reassigned(let arrival): reassigned(arrival, &context)
        case .verified(let operation, let outcome):
            if phase == .verifying(operation, matches: false) { verified(operation, outcome, &context) }
        case .published(let operation, let result):
            if case .publishing(operation, _) = phase { published(result, &context) }
        case .withdrawn(let operation):
            if case .publishing(operation, _) = phase { withdrawn(&context) }
        case .timer(let timer): timerFired(timer, &context)
        case .fileRemoved(let error): fileRemoved(error, &context)
        case .directoryAway: directoryAway(&context)
        case .directoryBack(let found): directoryBack(found, &context)
        case .shutdown: shutDown(&context)
        }
    }

    mutating func nextOperation() -> Operation {
        lastOperation += 1
        return lastOperation
    }

    private mutating func admit(_ context: inout Context) {
        guard phase == .idle, !isShuttingDown else { return }
        switch state {
        case .queued: enqueue(&context)
        // The transfer was interrupted, and the download was released before that was saved.
        case .downloading:
            change(&context) { $0.state = .queued }
            save(&context)
            enqueue(&context)
        case .retrying: delay(record.retryHold?.remaining(at: context.now) ?? .zero, &context)
        case .paused, .completed, .failed, .cancelled: break
        }
    }

    /// - Parameter obstacle: The failure of a file system that must have passed first; `nil`: none.
    package mutating func enqueue(after obstacle: FileError? = nil, _ context: inout Context) {
        phase = .waiting
        // A lingering transfer has to end first, and a stopping service gives no slots.
        guard lingering.isEmpty, !isShuttingDown else { return }
        context.actions.append(obstacle.map { .enqueueWithRoom($0.neededBytes, folder: $0.folder) } ?? .enqueue)
    }

    private mutating func reassigned(_ arrival: RecordID, _ context: inout Context) {
        // The download may have left the queue before.
        guard record.download.isInQueue else { return }
        switch phase {
        case .waiting, .idle, .clearing: break
        default: return
        }
        change(&context) { $0.arrival = arrival }
        save(&context)
        if phase == .waiting { context.actions.append(.rearrange) }
    }

    private mutating func delay(_ wait: Duration, _ context: inout Context) {
        let operation = nextOperation()
        phase = .delayed(operation)
        context.actions.append(.setTimer(.retry(operation), after: wait))
    }

    // MARK: - Changing the record

    /// Changes the record in one step with one revision, and publishes it.
    package mutating func change(_ context: inout Context, _ body: (inout Download) -> Void) {
        let before = state
        body(&record.download)
        if state != .downloading {
            record.download.bytesPerSecond = 0
            record.download.stalled = false
        }
        record.download.noteChange(at: context.now)
        if state != before {
            record.download.endedAt = state.isLive ? nil : context.now
            if !state.isLive { record.download.arrival = nil }
            record.download.expiresAt = context.retention.expiry(of: record.download)
            if !state.isLive { announceEnd(as: record.download, &context) }
        }
        context.actions.append(.publishVersion(shown))
        if state != before { context.actions.append(.log(.transition(record.download))) }
    }

    /// Prepares the messages about an end, one to each webhook. Each save writes them until one has succeeded.
    /// - Returns: The ids of the messages.
    @discardableResult
    mutating func announceEnd(as download: Download, _ context: inout Context) -> [RecordID] {
        guard context.callsWebhooks else { return [] }
        let type = WebhookMessageType(endOf: download)
        let messages = context.defaultWebhooks.receivers(of: type, besides: record.webhook).map { url in
            EndAnnouncement(id: context.newIdentity(at: context.now), url: url, download: download)
        }
        saves.announcements.add(messages)
        return messages.map(\.id)
    }

    /// Saves the present record and the messages that are not durable yet.
    /// - Parameter answers: The results of commands, which are sent once the record is durable.
    @discardableResult
    package mutating func save(answering answers: [PendingSaves.Answer] = [], _ context: inout Context) -> Operation {
        let operation = nextOperation()
        saves.begin(operation, countsOnNothing: record.segments.isEmpty, answers: answers)
        context.actions.append(.save(operation, record, announcing: saves.announcements.messages))
        return operation
    }

    /// Discards the partial bytes and the entity that they belong to.
    mutating func discardBytes(_ context: inout Context) {
        bytes.discard(before: lastOperation + 1)
        context.actions.append(.forgetBytes)
        record.entity = nil
        record.announcedMirrors = []
        record.partGeneration = nil
        discardDurableBytes()
        (record.download.bytesReceived, record.download.receivedRanges) = (0, [])
        record.download.bytesTotal = nil
        record.download.resumable = nil
    }

    /// Discards all bytes and the resume decision. The store counts on the bytes until the next save.
    mutating func startFromNothing(_ context: inout Context) {
        discardBytes(&context)
        bytes.isCountedOn = true
        resume = ResumeDecision()
    }

    /// Removes the durable bytes from the record. The store counts on them until the next save.
    mutating func discardDurableBytes() {
        if !record.segments.isEmpty { bytes.isCountedOn = true }
        record.segments = []
    }

    /// Resets the coverage. The record keeps its entity and its durable segments.
    mutating func resetCoverage(_ context: inout Context) {
        bytes.lose(before: lastOperation + 1)
        context.actions.append(.forgetBytes)
    }

    /// Reduces the coverage to the bytes that are known to be on the disk.
    mutating func trustOnlyDurable(_ context: inout Context) {
        bytes.keepOnly(record.segments, before: lastOperation + 1)
        context.actions.append(.forgetBytes)
    }

    /// Removes a name that the origin chose. A name that the client chose stays reserved.
    mutating func dropOriginName(_ context: inout Context) {
        guard record.requestedFilename == nil else { return }
        record.download.filename = nil
        context.actions.append(.reserveFolder(record.download.folder))
    }

    package func refusal(_ command: String) -> DownloadError { .illegalTransition(from: state, command: command) }

    // MARK: - Slots

    private mutating func slotAcquired(_ obstacle: FileError?, _ context: inout Context) {
        guard phase == .waiting, state == .queued, !isShuttingDown else {
            context.actions.append(.leaveQueue)
            return
        }
        // The origin's `Retry-After` holds after every command.
        if let wait = record.retryHold?.remaining(at: context.now), wait > .zero {
            context.actions.append(.leaveQueue)
            change(&context) { $0.state = .retrying }
            delay(wait, &context)
            return
        }
        // Fails or waits before bytes are fetched that could not be published.
        if let obstacle { return fileFailed(obstacle, &context) }
        let count = written.byteCount
        let now = context.now
        change(&context) { download in
            download.state = .downloading
            download.attempts += 1
            download.segments = max(1, download.segments)
            download.startedAt = download.startedAt ?? now
            download.bytesReceived = count
        }
        if written.byteCount > 0 {
            let operation = nextOperation()
            phase = .opening(operation)
            context.actions.append(.openPart(operation, holding: written.end, publishedAs: bytes.publishedName))
        } else {
            ask(&context)
        }
    }

    /// Sends a request to the origin, unless all bytes are present.
    private mutating func ask(_ context: inout Context) {
        if bytes.publishedName != nil { return verify(&context) }
        // The source of the bytes may no longer be among the mirrors, after a change of URL or mirrors.
        let isVouchedFor = record.entity?.source.map((record.mirrors + record.announcedMirrors).contains) ?? true
        switch resume.begin(
            entity: record.entity, offset: written.prefix, hasLaterBytes: written.end > written.prefix, isVouchedFor: isVouchedFor
        )
        {
        case .complete: verify(&context)
        case .ask(let ask): transfer(ask, &context)
        }
    }

    private mutating func partUnusable(_ error: FileError, _ context: inout Context) {
        guard error.meansNoBytes else { return fileFailed(error, &context) }
        context.actions.append(.log(.startedOver(id, "its part file is not there, or shorter than it was")))
        startFromNothing(&context)
        ask(&context)
    }

    package mutating func transfer(_ ask: ResumeDecision.Ask, _ context: inout Context) {
        // Bytes that the request does not continue no longer count. The store counts on them until other bytes replace
        // them, so they stay in the part file.
        if let reason = ask.discards {
            if written.byteCount > 0 { context.actions.append(.log(.startedOver(id, reason))) }
            resetCoverage(&context)
        }
        let operation = nextOperation()
        phase = .transferring(Transfer(number: operation))
        context.actions.append(.start(operation, ask))
    }

    // MARK: - Time

    private mutating func timerFired(_ timer: Timer, _ context: inout Context) {
        switch timer {
        case .retry(let operation):
            guard phase == .delayed(operation), !isShuttingDown else { return }
            record.retryHold = nil
            change(&context) { $0.state = .queued }
            save(&context)
            enqueue(&context)
        case .patience(let operation):
            if commands.patience == operation { patienceEnded(&context) }
        case .save:
            guard saves.failures > 0, !saves.hasPresentState, !isShuttingDown, phase != .removed else { return }
            if case .removing = phase { return }
            save(&context)
        }
    }

    /// Ends the wait of commands that has reached its limit.
    private mutating func patienceEnded(_ context: inout Context) {
        commands.patience = nil
        switch phase {
        case .stopping(let transfer, _):
            if transfer.replacement?.ending == nil { lingering.append(transfer.number) }
            context.actions.append(.leaveQueue)
            trustOnlyDurable(&context)
            workStopped(&context)
        case .flushing: workStopped(&context)
        case .publishing, .completing, .clearing, .removing:
            // The publication or commit cannot be undone and may take any time. The results of the commands stay unconfirmed.
            for command in commands.removeAll() { answer(command, .failure(.unconfirmed), &context) }
        case .idle, .waiting, .delayed, .opening, .transferring, .verifying, .removed: break
        }
    }

    /// Abandons work that needs the directory of part files. The download continues from the queue.
    private mutating func directoryAway(_ context: inout Context) {
        switch phase {
        case .opening, .transferring, .verifying, .publishing(_, isWithdrawn: false):
            stop(&context)
            if case .idle = phase { workStopped(&context) }
        case .idle, .waiting, .delayed, .clearing, .stopping, .flushing, .publishing, .completing, .removing, .removed: break
        }
    }

    /// Recovers the bytes that the directory has of the download, as at a start of the service.
    private mutating func directoryBack(_ found: RecoveredPart, _ context: inout Context) {
        switch phase {
        case .idle, .waiting, .delayed: break
        default: return
        }
        switch state {
        case .completed, .cancelled: return
        case .queued, .downloading, .paused, .retrying, .failed: break
        }
        let (entity, generation) = (record.entity, record.partGeneration)
        let (written, published) = Recovery.adopt(found, in: &record)
        if entity != record.entity || generation != record.partGeneration { saves.changeEntity() }
        bytes.find(written, publishedName: published, before: lastOperation + 1)
        context.actions.append(.forgetBytes)
        if let path = published?.path { context.actions.append(.restoreName(path)) }
        change(&context) { _ in }
    }

    private mutating func shutDown(_ context: inout Context) {
        shutdownAfter = shutdownAfter ?? lastOperation
        switch phase {
        case .waiting: context.actions.append(.leaveQueue)
        case .delayed(let operation): context.actions.append(.cancelTimer(.retry(operation)))
        case .opening:
            context.actions.append(.leaveQueue)
            phase = .idle
        case .transferring(let transfer): stop(transfer, because: .shutdown, &context)
        case .verifying:
            context.actions.append(.abandonVerification)
            stopped(keepsBytes: true, &context)
        case .publishing(let operation, isWithdrawn: false):
            // The object storage may be unreachable for a long time.
            phase = .publishing(operation, isWithdrawn: true)
            context.actions.append(.withdraw(operation))
        case .idle, .clearing, .stopping, .flushing, .publishing, .completing, .removing, .removed: break
        }
        if saves.failures > 0, saves.isEmpty, phase != .removed { save(&context) }
    }
}

// MARK: - The store

extension DownloadMachine {
    private mutating func committed(_ operation: Operation, _ error: StoreError?, _ context: inout Context) {
        guard let (commit, announced) = saves.end(operation, error) else { return }
        // Delivered last, so that readers see the end before the receiver does.
        defer { if !announced.isEmpty { context.actions.append(.deliver(announced)) } }
        if error == nil, commit.countsOnNothing { bytes.release(with: operation) }
        switch phase {
        case .completing(operation, let file, let time): return completionCommitted(file, at: time, commit, error, &context)
        case .removing(operation, let removal): return removalCommitted(removal, error, &context)
        case .clearing(operation, let enqueues, let hasMadeRoom):
            // A full disk refuses the commit until the discarded bytes are removed.
            if error == .full, !hasMadeRoom {
                bytes.isCountedOn = true
                context.actions.append(.discardPart)
                phase = .clearing(save(answering: commit.answers, &context), enqueues: enqueues, hasMadeRoom: true)
                return
            }
            cleared(error, enqueues: enqueues, &context)
            conclude(commit, error, &context)
            return drain(&context)
        default: conclude(commit, error, &context)
        }
        if let (transfer, reason) = currentTransfer, let replacement = transfer.replacement, replacement.commit == operation {
            replacementRecorded(error, transfer, reason, &context)
        }
    }

    /// Ends the phase `clearing`. If the commit has failed, the store still counts on the bytes.
    private mutating func cleared(_ error: StoreError?, enqueues: Bool, _ context: inout Context) {
        phase = .idle
        if error == nil {
            context.actions.append(.discardPart)
        } else {
            bytes.isCountedOn = true
        }
        if enqueues { enqueue(&context) }
    }

    private mutating func conclude(_ commit: PendingSaves.Commit, _ error: StoreError?, _ context: inout Context) {
        if let error {
            if phase != .removed, saves.isNewest(commit), !endUnstorable(error, &context) { saveLater(commit, error, &context) }
        } else if phase != .removed, saves.recover(with: commit) {
            context.actions.append(.cancelTimer(.save))
            finishLate(&context)
        }
        for (waiter, download) in commit.answers {
            context.actions.append(.answer(waiter, error.map { .failure(DownloadError($0)) } ?? .success(download)))
        }
    }

    /// Carries out what a failed save has postponed, once a later save has succeeded.
    private mutating func finishLate(_ context: inout Context) {
        switch state {
        case .completed: context.actions.append(.finishPublishing)
        case .cancelled where phase == .idle: context.actions.append(.discardPart)
        default: break
        }
    }

    /// Schedules another save after a failed one. Without it, a download whose failure was not saved would begin again
    /// at the next start. A stopping service does not wait for a timer: it saves once more at once.
    mutating func saveLater(_ commit: PendingSaves.Commit, _ error: StoreError, _ context: inout Context) {
        guard error != .closed, error != .fenced else { return }
        if let shutdownAfter {
            saves.fail()
            if commit.number <= shutdownAfter { save(&context) }
            return
        }
        context.actions.append(.setTimer(.save, after: saves.fail()))
    }
}
