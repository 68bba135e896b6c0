internal import HTTPCore
internal import System

/// The life of one download, as a value: it takes events and returns actions.
///
/// It makes all decisions about the download and has no side effects. Time, paths and random numbers are passed in. Illegal
/// states cannot be represented: each phase has exactly the data that it needs. Everything that happens outside (a transfer, a
/// flush, a commit) has a number. A late result of something that was abandoned is recognised by its number and ignored.
///
///     waiting ─→ opening ─→ transferring ─→ verifying ─→ publishing ─→ completing ─→ resting
///        ↑  ↖        └────────→ ↓   ↘             ↘ (abandoned)
///     delayed └─── resting ←─ stopping ─→ flushing ─→ the commands that wait
///
/// Commands are carried out in order of arrival. A command that needs the transfer to end waits in `commands` until it has
/// ended, or for ``patience`` at most. The result of a command is the download as the command made it, once that is durable.
struct DownloadMachine: Sendable {
    /// The number of something that was begun outside and has a result.
    typealias Operation = UInt64

    /// The longest wait of a command for a transfer, flush or publication to end. After that it goes on without, or
    /// stays unconfirmed.
    static let patience: Duration = .seconds(4)
    /// The first and the longest delay between attempts to save a record.
    static let firstSaveDelay: Duration = .milliseconds(500)
    static let longestSaveDelay: Duration = .seconds(30)

    private(set) var record: DownloadRecord
    private(set) var url: HTTPURL
    private(set) var phase = Phase.resting
    /// The bytes of the part file that belong to the record's entity, whether durable or not.
    private(set) var written = Coverage()
    /// The first operation after bytes were last discarded. Flushes before it do not concern the present bytes.
    private var bytesSince: Operation = 0
    private var flushes: [Operation] = []
    /// The part of mirrors in the bytes: whether they have sent any, and their digests of the whole file.
    private var hasMixedSources = false
    private var mirrorDigests: [Checksum] = []
    /// The path under `files` that an earlier instance gave the file before it crashed.
    private var publishedName: PublishedName?
    /// Whether the store counts on discarded bytes. Those are not overwritten in place.
    private var isCountedOn = false
    /// The state of the record's entity and generation in the store.
    private var entity = EntityStanding.saved
    private var budget = RetryBudget()
    private var resume = ResumeDecision()
    /// Transfers that did not end in time. No other transfer begins before they have ended.
    private var lingering: [Operation] = []
    /// The commands that wait, in order of arrival.
    private var commands = CommandQueue()
    /// The commits under way, oldest first.
    private var commits: [Commit] = []
    /// Messages to the webhook that no commit has made durable yet.
    private(set) var unannounced = EndAnnouncements()
    /// The number of failed saves of the present state.
    private var failedSaves = 0
    /// The newest commit that has failed. Commits before it may end later and do not concern the present state.
    private var lastFailure: Operation = 0
    /// Whether discarded bytes were removed before the store had recorded that, because a full disk refuses the commit
    /// otherwise.
    private var hasMadeRoom = false
    /// The last operation before the service began to stop; `nil`: it is not stopping.
    private var shutdownAfter: Operation?
    private var lastOperation: Operation = 0

    private enum EntityStanding: Sendable, Equatable {
        case unsaved
        case saving(Operation)
        case saved
    }

    private struct Commit: Sendable {
        let number: Operation
        /// Whether the saved record counts on no bytes.
        let countsOnNothing: Bool
        /// The ids of the webhook messages that the commit makes durable.
        let announces: [DownloadID]
        var answers: [(waiter: Waiter, download: Download)] = []
    }

    /// Makes the machine of a record.
    /// - Parameters:
    ///   - record: The record, with the entity and the generation of the bytes that are present.
    ///   - url: The record's URL.
    ///   - written: The bytes of the part file that can be trusted.
    ///   - publishedName: The path under `files` that the file already has; `nil`: none.
    ///   - isEntitySaved: Whether that entity and that generation are durable.
    init(
        _ record: DownloadRecord, url: HTTPURL, written: Coverage = Coverage(), publishedName: PublishedName? = nil,
        isEntitySaved: Bool = true
    ) {
        entity = isEntitySaved ? .saved : .unsaved
        self.record = record
        self.url = url
        self.written = written
        self.publishedName = publishedName
        // Records do not contain the source of each byte. Distrusted mirrors have sent none of these bytes.
        hasMixedSources = !written.ranges.isEmpty && !record.mirrors.isEmpty && !record.distrustsMirrors
        budget = RetryBudget(furthest: written.byteCount)
    }

    var id: DownloadID { record.id }
    private var state: DownloadState { record.download.state }
    private var isShuttingDown: Bool { shutdownAfter != nil }
}

// MARK: - Published state

extension DownloadMachine {
    /// The download as readers see it, without the counters of its transfer.
    var shown: Download {
        var shown = record.download
        if written.byteCount == shown.bytesReceived { shown.receivedRanges = written.outline(atMost: Download.rangeLimit) }
        return shown
    }

    /// Whether the transfer's counters count bytes of the record's entity. Before a response is accepted, they do not.
    var isPlacing: Bool {
        switch phase {
        case .transferring(let transfer), .stopping(let transfer, _): transfer.isPlacing && !transfer.isDisowned
        default: false
        }
    }

    /// The running transfer, or the one that is being stopped; `nil`: none.
    var transfer: Operation? {
        switch phase {
        case .transferring(let transfer), .stopping(let transfer, _): transfer.number
        default: nil
        }
    }

    /// Whether the download holds a slot.
    var holdsSlot: Bool {
        switch phase {
        case .opening, .transferring, .stopping: true
        default: false
        }
    }

    /// Whether the download uses disk space that its published record does not contain yet.
    var takesRoom: Bool {
        switch phase {
        case .flushing: true
        default: holdsSlot || isFinishing
        }
    }

    /// Whether the file is being verified or published.
    var isFinishing: Bool {
        switch phase {
        case .verifying, .publishing, .completing: true
        default: false
        }
    }

    /// Whether no work is under way and no command waits.
    var isQuiet: Bool {
        switch phase {
        case .resting, .waiting, .delayed, .removed: commits.isEmpty && commands.isEmpty && flushes.isEmpty
        default: false
        }
    }

    /// Whether the machine is no longer needed: the download has ended and its durable record contains everything.
    var isDone: Bool {
        guard isQuiet, lingering.isEmpty, failedSaves == 0, unannounced.isEmpty else { return false }
        return phase == .removed || (phase == .resting && !state.isLive)
    }

    /// Whether the machine is idle and its durable record contains everything that is needed to go on.
    var rests: Bool {
        guard isQuiet, lingering.isEmpty, failedSaves == 0, unannounced.isEmpty else { return false }
        return phase == .resting || phase == .waiting
    }

    /// Whether failed attempts count against the retry limit. The record does not contain their number.
    var countsFailures: Bool {
        switch state {
        case .queued, .downloading, .retrying: budget.attemptsWithoutProgress > 0
        case .paused, .completed, .failed, .cancelled: false
        }
    }

    /// Whether the present record could not be saved yet.
    var isUnsaved: Bool { failedSaves > 0 }

    /// The host and port of the origin, by which the queue limits downloads.
    var host: String { "\(url.host):\(url.port)" }

    /// Whether the part file may be closed.
    var needsNoFile: Bool {
        switch phase {
        case .resting, .waiting, .delayed, .removed: flushes.isEmpty
        default: false
        }
    }

    /// Notes the transfer's progress, so that results of commands contain it.
    mutating func noteProgress(
        bytesReceived: Int64, bytesPerSecond: Int64 = 0, stalled: Bool = false, ranges: [Range<Int64>]? = nil
    ) {
        record.download.bytesReceived = bytesReceived
        record.download.bytesPerSecond = bytesPerSecond
        record.download.stalled = stalled
        if let ranges { record.download.receivedRanges = ranges }
    }

    /// Whether the service has crashed during the download's transfer, and no transfer has ended since.
    var isSuspect: Bool { record.transferCrashes > 0 }

    /// Notes the number of connections. 0 is ignored, so the last number stays when the transfer ends.
    mutating func noteConnections(_ count: Int) {
        if count > 0 { record.download.segments = count }
    }

    /// Whether the download fails if the next transfer fails and brings no bytes.
    func isLastAttempt(_ policy: RetryPolicy) -> Bool { budget.isLastAttempt(policy) }

    /// The starting point of the next transfer: the bytes, the resume decision, and whether the store counts on any bytes.
    var start: (written: Coverage, resume: ResumeDecision, hasRecordedBytes: Bool) {
        (written, resume, record.syncedBytes > 0 || isCountedOn)
    }

    /// The digests that the whole file must match, from the client, an earlier publication, the origin and the mirrors.
    var expectedDigests: [Checksum] {
        let published = publishedName.flatMap { Checksum(.sha256, bytes: $0.sha256) }
        return [record.download.checksum, published, record.entity?.digest].compactMap(\.self) + mirrorDigests
    }
}

// MARK: - Events

extension DownloadMachine {
    /// Handles an event and appends the required actions to the context.
    mutating func handle(_ event: Event, _ context: inout Context) {
        switch event {
        case .admitted: admit(&context)
        case .command(let command): take(command, &context)
        case .fact(let fact): supply(fact, &context)
        case .slotAcquired(let obstacle): slotAcquired(obstacle, &context)
        case .partOpened(let operation):
            if phase == .opening(operation) { ask(&context) }
        case .partUnusable(let operation, let failure):
            if phase == .opening(operation) { partUnusable(failure, &context) }
        case .accepted(let operation, let acceptance, let name): accepted(operation, acceptance, name, &context)
        case .ended(let operation, let ending): ended(operation, ending, &context)
        case .checkpointDue(let written): checkpoint(written, &context)
        case .flushed(let operation, let written, let error): flushed(operation, written, error, &context)
        case .committed(let operation, let error): committed(operation, error, &context)
        case .reassigned(let arrival): reassigned(arrival, &context)
        case .verified(let operation, let outcome):
            if phase == .verifying(operation, matches: false) { verified(operation, outcome, &context) }
        case .published(let operation, let result):
            if case .publishing(operation, _) = phase { published(result, &context) }
        case .withdrawn(let operation):
            if case .publishing(operation, _) = phase { withdrawn(&context) }
        case .timer(let timer): timerFired(timer, &context)
        case .directoryAway: directoryAway(&context)
        case .directoryBack(let found): directoryBack(found, &context)
        case .shutdown: shutDown(&context)
        }
    }

    private mutating func nextOperation() -> Operation {
        lastOperation += 1
        return lastOperation
    }

    private mutating func admit(_ context: inout Context) {
        guard phase == .resting, !isShuttingDown else { return }
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

    private mutating func enqueue(_ context: inout Context) {
        phase = .waiting
        // A lingering transfer has to end first, and a stopping service gives no slots.
        if lingering.isEmpty, !isShuttingDown { context.actions.append(.enqueue) }
    }

    private mutating func reassigned(_ arrival: DownloadID, _ context: inout Context) {
        // The download may have left the queue meanwhile.
        guard record.download.isInQueue else { return }
        switch phase {
        case .waiting, .resting, .clearing: break
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
    private mutating func change(_ context: inout Context, _ body: (inout Download) -> Void) {
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
        context.actions.append(.show(shown))
        if state != before { context.actions.append(.log(.transition(record.download))) }
    }

    /// Prepares the webhook message about an end. Each save writes it until one has succeeded.
    /// - Returns: The id of the message; `nil`: no webhook is called.
    @discardableResult
    private mutating func announceEnd(as download: Download, _ context: inout Context) -> DownloadID? {
        guard context.callsWebhooks, let url = record.webhook else { return nil }
        let id = context.newIdentity(at: context.now)
        unannounced.add(WebhookDelivery(id: id, url: url, download: download, due: context.now))
        return id
    }

    /// Saves the present record and the messages that are not durable yet. Once durable, the saved download is the
    /// waiter's result.
    @discardableResult
    private mutating func save(answering waiter: Waiter? = nil, _ context: inout Context) -> Operation {
        let operation = nextOperation()
        var commit = Commit(number: operation, countsOnNothing: record.segments.isEmpty, announces: unannounced.ids)
        if let waiter { commit.answers.append((waiter, shown)) }
        commits.append(commit)
        if entity == .unsaved { entity = .saving(operation) }
        context.actions.append(.save(operation, record, announcing: unannounced.deliveries))
        return operation
    }

    /// Discards the partial bytes and the entity that they belong to.
    private mutating func giveUpBytes(_ context: inout Context) {
        loseBytes(&context)
        publishedName = nil
        record.entity = nil
        record.partGeneration = nil
        giveUpDurableBytes()
        record.download.bytesReceived = 0
        record.download.bytesTotal = nil
        record.download.resumable = nil
    }

    /// Discards all bytes and the resume decision. The store counts on the bytes until the next save.
    private mutating func bytesAreGone(_ context: inout Context) {
        giveUpBytes(&context)
        isCountedOn = true
        resume = ResumeDecision()
    }

    /// Removes the durable bytes from the record. The store counts on them until the next save.
    private mutating func giveUpDurableBytes() {
        if !record.segments.isEmpty { isCountedOn = true }
        record.segments = []
    }

    /// Resets the coverage. The record keeps its entity and its durable segments.
    private mutating func loseBytes(_ context: inout Context) {
        written = Coverage()
        mirrorDigests = []
        hasMixedSources = false
        bytesSince = lastOperation + 1
        context.actions.append(.forgetBytes)
    }

    /// Reduces the coverage to the bytes that are known to be on the disk.
    private mutating func trustOnlyDurable(_ context: inout Context) {
        written = Coverage(record.segments)
        bytesSince = lastOperation + 1
        context.actions.append(.forgetBytes)
    }

    /// Removes a name that the origin chose. A name that the client chose stays reserved.
    private mutating func dropOriginName(_ context: inout Context) {
        guard record.requestedFilename == nil else { return }
        record.download.filename = nil
        context.actions.append(.reserveFolder(record.download.folder))
    }

    private func refusal(_ command: String) -> DownloadError { .illegalTransition(from: state, command: command) }

    // MARK: - Slots

    private mutating func slotAcquired(_ obstacle: String?, _ context: inout Context) {
        guard phase == .waiting, state == .queued, !isShuttingDown else {
            context.actions.append(.leaveQueue)
            return
        }
        // The origin's `Retry-After` holds whatever the user has done meanwhile.
        if let wait = record.retryHold?.remaining(at: context.now), wait > .zero {
            context.actions.append(.leaveQueue)
            change(&context) { $0.state = .retrying }
            delay(wait, &context)
            return
        }
        // Fails before bytes are fetched that could not be published.
        if let obstacle { return fail(DownloadFailure(.ioError, obstacle), retryAfter: nil, &context) }
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
            context.actions.append(.openPart(operation, holding: written.end, publishedAs: publishedName))
        } else {
            ask(&context)
        }
    }

    /// Sends a request to the origin, unless all bytes are present.
    private mutating func ask(_ context: inout Context) {
        if publishedName != nil { return verify(&context) }
        // The source of the bytes may no longer be among the mirrors, after a change of URL or mirrors.
        let isVouchedFor = record.entity?.source.map(record.mirrors.contains) ?? true
        switch resume.begin(
            entity: record.entity, offset: written.prefix, hasLaterBytes: written.end > written.prefix, isVouchedFor: isVouchedFor
        )
        {
        case .complete: verify(&context)
        case .ask(let ask): transfer(ask, &context)
        }
    }

    private mutating func partUnusable(_ failure: DownloadFailure?, _ context: inout Context) {
        if let failure { return fail(failure, retryAfter: nil, &context) }
        context.actions.append(.log(.startedOver(id, "its part file is not there, or shorter than it was")))
        bytesAreGone(&context)
        ask(&context)
    }

    private mutating func transfer(_ ask: ResumeDecision.Ask, _ context: inout Context) {
        // Bytes that the request does not continue no longer count. The store counts on them until other bytes replace
        // them, so they stay in the part file.
        if ask.discardsBytes || ask.range == nil {
            if written.byteCount > 0 {
                context.actions.append(.log(.startedOver(id, "\(written.byteCount) bytes cannot be continued")))
            }
            loseBytes(&context)
        }
        let operation = nextOperation()
        phase = .transferring(Transfer(number: operation))
        context.actions.append(.start(operation, ask))
    }

    // MARK: - A transfer

    /// Returns the name to reserve for the file of a response that is about to be accepted; `nil`: it has a name, or
    /// the response is ignored.
    func wantedName(_ accepted: TransferReport.Acceptance, of operation: Operation) -> String? {
        guard let (transfer, reason) = current, transfer.number == operation, !transfer.isDisowned,
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

    private mutating func accepted(
        _ operation: Operation, _ accepted: TransferReport.Acceptance, _ name: ResponseName?, _ context: inout Context
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
        _ accepted: TransferReport.Acceptance, _ name: ResponseName?, _ transfer: inout Transfer, _ context: inout Context
    ) {
        if accepted.startedOver { context.actions.append(.log(.startedOver(id, "the origin has another version, or no ranges"))) }
        // A name once chosen stays, even if the download starts over.
        if let name { take(name) }
        let isNew = accepted.written.byteCount == 0
        // A small file is complete so soon that this save would be wasted.
        let isSmall = accepted.body.entity.total.map { $0 <= StreamingHasher.smallFile } ?? false
        let waits = isSmall && isNew && record.syncedBytes == 0 && !isCountedOn
        transfer.isPlacing = true
        if record.entity != accepted.body.entity { entity = .unsaved }
        record.entity = accepted.body.entity
        if isNew {
            // Saved together with the coverage, which belongs to one generation.
            if record.partGeneration != accepted.partGeneration { entity = .unsaved }
            record.partGeneration = accepted.partGeneration
            if accepted.isReplacement || written.byteCount > 0 { bytesSince = lastOperation + 1 }
            giveUpDurableBytes()
        }
        written = accepted.written
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
    private mutating func take(_ name: ResponseName) {
        if record.lacksExtension, record.requestedFilename != nil {
            record.requestedFilename = name.wanted
            record.lacksExtension = false
        }
        record.download.filename = name.reserved
    }

    /// Handles the end of the commit that discards the bytes of an earlier generation.
    private mutating func replacementRecorded(
        _ error: StoreError?, _ transfer: Transfer, _ reason: StopReason?, _ context: inout Context
    ) {
        if let error {
            isCountedOn = true
            return resumeAfterReplacement(transfer, reason, DownloadFailure(error), &context)
        }
        context.actions.append(.discardOldParts(keeping: record.partGeneration))
        resumeAfterReplacement(transfer, reason, nil, &context)
    }

    /// The running transfer, or the one that is being stopped and the reason; `nil`: none.
    private var current: (Transfer, StopReason?)? {
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
            loseBytes(&context)
            context.actions.append(.discardNewPart(record.partGeneration))
            if reason == nil {
                reason = .failure(failure)
                if ending == nil { context.actions.append(.stop) }
            }
        }
        phase = reason.map { .stopping(transfer, because: $0) } ?? .transferring(transfer)
        if let ending { ended(transfer.number, ending, &context) }
    }

    private mutating func checkpoint(_ written: Coverage, _ context: inout Context) {
        guard case .transferring(let transfer) = phase, transfer.isPlacing, transfer.replacement == nil, !transfer.isDisowned,
            flushes.isEmpty, written.byteCount > record.syncedBytes
        else { return }
        flush(written, trims: false, &context)
    }

    @discardableResult
    private mutating func flush(_ written: Coverage, trims: Bool, _ context: inout Context) -> Operation {
        let operation = nextOperation()
        flushes.append(operation)
        context.actions.append(.flush(operation, written, trims: trims))
        return operation
    }

    private mutating func flushed(
        _ operation: Operation, _ flushed: Coverage, _ error: FileError?, _ context: inout Context
    ) {
        guard let index = flushes.firstIndex(of: operation) else { return }
        flushes.remove(at: index)
        if phase == .removed { return }
        let isCurrent = operation >= bytesSince
        if let error {
            context.actions.append(.log(.warning(error.message)))
            // The system reports such a failure once. A later flush would seem to succeed.
            if isCurrent || error.meansNoBytes { flushFailed(error, &context) }
        } else if isCurrent {
            durable(flushed, &context)
        }
        switch phase {
        case .flushing(operation): interrupted(&context)
        case .verifying(_, matches: true) where flushes.isEmpty: publish(&context)
        case .resting, .delayed, .waiting: flushRest(&context)
        default: break
        }
    }

    /// Flushes bytes of an ended transfer that are not durable yet.
    private mutating func flushRest(_ context: inout Context) {
        guard written.byteCount > record.syncedBytes, flushes.isEmpty else { return }
        flush(written, trims: state == .failed && !isCountedOn, &context)
    }

    /// Records bytes that are on the disk.
    private mutating func durable(_ flushed: Coverage, _ context: inout Context) {
        guard flushed.byteCount > record.syncedBytes else { return }
        switch phase {
        // The commit of the download's end may be under way, and this one would follow it.
        case .completing, .removing, .removed, .clearing: return
        default: break
        }
        record.segments = flushed.segments(total: record.download.bytesTotal)
        if entity == .saved {
            context.actions.append(
                .saveProgress(StoredProgress(id: id, bytesReceived: flushed.byteCount, segments: record.segments)))
        } else {
            // The store may not have the entity of these bytes, so the whole record is saved.
            record.download.bytesReceived = flushed.byteCount
            save(&context)
        }
    }

    private mutating func flushFailed(_ error: FileError, _ context: inout Context) {
        let failure = DownloadFailure(error)
        // If another program has truncated the file, the lost bytes read as zeros once the transfer extends it.
        let isCut = error.meansNoBytes
        if isCut { bytesAreGone(&context) }
        switch phase {
        case .transferring(var transfer):
            if isCut { transfer.isDisowned = true }
            stop(transfer, because: .failure(failure), &context)
        case .stopping(var transfer, _):
            if isCut { transfer.isDisowned = true }
            phase = .stopping(transfer, because: .failure(failure))
        case .verifying:
            context.actions.append(.abandonVerification)
            if !isCut { trustOnlyDurable(&context) }
            fail(failure, retryAfter: nil, &context)
        case .resting where isCut, .delayed where isCut, .waiting where isCut:
            change(&context) { _ in }
            save(&context)
        default:
            if !isCut { trustOnlyDurable(&context) }
        }
    }

    // MARK: - A transfer ends

    private mutating func ended(_ operation: Operation, _ ending: TransferReport.Ending, _ context: inout Context) {
        if stopsLingering(operation, &context) { return }
        guard case (var transfer, let reason)? = current, transfer.number == operation else { return }
        record.transferCrashes = 0
        if transfer.replacement != nil {
            transfer.replacement?.ending = ending
            phase = reason.map { .stopping(transfer, because: $0) } ?? .transferring(transfer)
            return
        }
        if !transfer.isDisowned {
            written = ending.written
            resume = ending.resume
            if ending.hasMixedSources { hasMixedSources = true }
            mirrorDigests += ending.mirrorDigests.filter { !mirrorDigests.contains($0) }
        }
        switch reason {
        case nil: finish(ending.outcome, &context)
        case .failure(let failure):
            if !transfer.isDisowned { trustOnlyDurable(&context) }
            fail(failure, retryAfter: nil, &context)
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

    private mutating func finish(_ outcome: TransferReport.Ending.Outcome, _ context: inout Context) {
        switch outcome {
        case .whole: verify(&context)
        case .askAgain(let ask):
            context.actions.append(.forgetTransfer)
            phase = .resting
            let count = written.byteCount
            change(&context) { $0.bytesReceived = count }
            transfer(ask, &context)
        case .awaitRoom: awaitRoom(&context)
        case .cancelled:
            // No command has cancelled it, so it counts as a broken connection.
            fail(DownloadFailure(.transferBroken, "the transfer was interrupted"), retryAfter: nil, &context)
        case .failed(let failure, let retryAfter):
            // The request for the whole file brought a page, which has replaced no bytes. The durable bytes remain valid.
            if failure.code == .mediaTypeMismatch, written.byteCount == 0, record.syncedBytes > 0 { trustOnlyDurable(&context) }
            fail(failure, retryAfter: retryAfter, &context)
        }
    }

    /// Returns the download to its position in the queue, with its bytes, until the quota has room for more.
    private mutating func awaitRoom(_ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        phase = .resting
        let count = written.byteCount
        change(&context) { download in
            download.state = .queued
            download.bytesReceived = count
        }
        enqueue(&context)
        flushRest(&context)
    }

    /// Flushes the bytes of a stopped transfer, unless the next command discards them. Then the commands are carried out.
    private mutating func stopped(keepsBytes: Bool, _ context: inout Context) {
        let wantsBytes =
            switch commands.first?.request {
            case .cancel, .remove: false
            default: true
            }
        let isPausing = if case .pause = commands.first?.request { true } else { false }
        guard keepsBytes, wantsBytes, written.byteCount > record.syncedBytes || (isPausing && written.byteCount > 0) else {
            return interrupted(&context)
        }
        phase = .flushing(flush(written, trims: isPausing && !isCountedOn, &context))
    }

    /// Ends a failed attempt: schedules another one, or fails the download. Valid bytes are kept either way.
    private mutating func fail(_ failure: DownloadFailure, retryAfter: Duration?, _ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        let verdict = budget.verdict(
            on: failure, bytesReceived: written.byteCount, retryAfter: retryAfter, policy: context.retryPolicy,
            using: &context.random)
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
        case .giveUp:
            // The origin's `Retry-After` also holds if a command resumes the download.
            record.retryHold = retryAfter.map { RetryHold(min($0, context.retryPolicy.longestRetryAfter), from: context.now) }
            let count = written.byteCount
            change(&context) { download in
                download.state = .failed
                download.error = failure
                download.bytesReceived = count
            }
            phase = .resting
            save(&context)
        }
        flushRest(&context)
    }

    // MARK: - Finishing

    private mutating func verify(_ context: inout Context) {
        context.actions.append(.leaveQueue)
        context.actions.append(.forgetTransfer)
        let operation = nextOperation()
        phase = .verifying(operation, matches: false)
        noteProgress(bytesReceived: written.byteCount)
        context.actions.append(.verify(operation, length: written.prefix, expected: expectedDigests))
    }

    private mutating func verified(_ operation: Operation, _ outcome: VerificationOutcome, _ context: inout Context) {
        switch outcome {
        case .matches where flushes.isEmpty: publish(&context)
        case .matches: phase = .verifying(operation, matches: true)
        case .differs(let expected, let actual) where hasMixedSources && !record.distrustsMirrors:
            context.actions.append(.log(.mirrorDropped(id, "the file is \(actual) and should be \(expected)")))
            record.distrustsMirrors = true
            startOver(&context)
        case .differs(let expected, let actual):
            // Wrong bytes are of no use to a later attempt. The wrong source may be the download's own URL, so mirrors
            // are trusted again.
            record.distrustsMirrors = false
            giveUpBytes(&context)
            dropOriginName(&context)
            context.actions.append(.discardPart)
            fail(
                DownloadFailure(.checksumMismatch, "the file is \(actual), and should be \(expected)"), retryAfter: nil, &context)
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

    /// Fetches the file anew from the download's own URL alone, at its former position in the queue.
    private mutating func startOver(_ context: inout Context) {
        bytesAreGone(&context)
        change(&context) { $0.state = .queued }
        // The distrust of mirrors must be durable before any byte that is fetched without them.
        save(&context)
        enqueue(&context)
    }

    private mutating func finishingFailed(_ error: FileError, _ context: inout Context) {
        if error.meansNoBytes {
            giveUpBytes(&context)
            dropOriginName(&context)
            context.actions.append(.discardPart)
            return fail(DownloadFailure(.ioError, error.message, retryable: true), retryAfter: nil, &context)
        }
        if error.losesBytes { trustOnlyDurable(&context) }
        fail(DownloadFailure(error), retryAfter: nil, &context)
    }

    private mutating func published(_ result: Result<PublishedFile, FileError>, _ context: inout Context) {
        switch result {
        case .failure(let error):
            finishingFailed(error, &context)
            drain(&context)
        case .success(let file):
            let operation = nextOperation()
            let record = completed(file, context.now, context.retention)
            announceEnd(as: record.download, &context)
            commits.append(Commit(number: operation, countsOnNothing: true, announces: unannounced.ids))
            phase = .completing(operation, file, at: context.now)
            context.actions.append(.saveCompletion(operation, record, announcing: unannounced.deliveries))
        }
    }

    /// Handles an abandoned publication. Small files are flushed at publication only, so their bytes are flushed here.
    private mutating func withdrawn(_ context: inout Context) {
        stopped(keepsBytes: true, &context)
    }

    private func completed(_ file: PublishedFile, _ now: Timestamp, _ retention: Retention) -> DownloadRecord {
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
    private mutating func completionCommitted(
        _ file: PublishedFile, at time: Timestamp, _ commit: Commit, _ error: StoreError?, _ context: inout Context
    ) {
        if error == .fenced { return completionRefused(file, &context) }
        record = completed(file, time, context.retention)
        loseBytes(&context)
        phase = .resting
        context.actions.append(.claimName(file.path))
        if let error { saveLater(commit, error, &context) } else { context.actions.append(.finishPublishing) }
        context.actions.append(.show(record.download))
        context.actions.append(.log(.transition(record.download)))
        drain(&context)
    }

    /// Ends a publication that the database has refused: another replica owns the download, and no record will name the file.
    private mutating func completionRefused(_ file: PublishedFile, _ context: inout Context) {
        phase = .resting
        context.actions.append(.discardFile(file))
        drain(&context)
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
            guard failedSaves > 0, !isShuttingDown, phase != .removed else { return }
            if case .removing = phase { return }
            // A newer save is under way.
            if let last = commits.last, last.number > lastFailure { return }
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
            interrupted(&context)
        case .flushing: interrupted(&context)
        case .publishing, .completing, .clearing, .removing:
            // The publication or commit cannot be undone and may take any time. The results of the commands stay unconfirmed.
            for command in commands.removeAll() { answer(command, .failure(.unconfirmed), &context) }
        case .resting, .waiting, .delayed, .opening, .transferring, .verifying, .removed: break
        }
    }

    /// Abandons work that needs the directory of part files. The download continues from the queue.
    private mutating func directoryAway(_ context: inout Context) {
        switch phase {
        case .opening, .transferring, .verifying, .publishing(_, isWithdrawn: false):
            stop(&context)
            if case .resting = phase { interrupted(&context) }
        case .resting, .waiting, .delayed, .clearing, .stopping, .flushing, .publishing, .completing, .removing, .removed: break
        }
    }

    /// Recovers the bytes that the directory has of the download, as at a start of the service.
    private mutating func directoryBack(_ found: RecoveredPart, _ context: inout Context) {
        switch phase {
        case .resting, .waiting, .delayed: break
        default: return
        }
        switch state {
        case .completed, .cancelled: return
        case .queued, .downloading, .paused, .retrying, .failed: break
        }
        let before = (state, record.entity, record.partGeneration)
        loseBytes(&context)
        let (coverage, published) = record.restore(finding: found, now: context.now)
        // `restore` has reset the state, but the phase goes on.
        record.download.state = before.0
        if before.1 != record.entity || before.2 != record.partGeneration { entity = .unsaved }
        written = coverage
        publishedName = published
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
            phase = .resting
        case .transferring(let transfer): stop(transfer, because: .shutdown, &context)
        case .verifying:
            context.actions.append(.abandonVerification)
            stopped(keepsBytes: true, &context)
        case .publishing(let operation, isWithdrawn: false):
            // The object storage may be unreachable for a long time.
            phase = .publishing(operation, isWithdrawn: true)
            context.actions.append(.withdraw(operation))
        case .resting, .clearing, .stopping, .flushing, .publishing, .completing, .removing, .removed: break
        }
        if failedSaves > 0, commits.isEmpty, phase != .removed { save(&context) }
    }
}

// MARK: - Commands

extension DownloadMachine {
    private mutating func take(_ command: Command, _ context: inout Context) {
        if isShuttingDown { return answer(command, .failure(.shuttingDown), &context) }
        commands.append(command)
        drain(&context)
    }

    private func answer(_ command: Command, _ result: Result<Download, DownloadError>, _ context: inout Context) {
        context.actions.append(.answer(command.waiter, result))
    }

    /// Whether commands have to wait for work that is under way.
    private var isBlocked: Bool {
        switch phase {
        case .stopping, .flushing, .clearing, .completing, .removing: true
        case .publishing(_, let isWithdrawn): isWithdrawn
        case .resting, .waiting, .delayed, .opening, .transferring, .verifying, .removed: false
        }
    }

    /// Carries out the waiting commands in order, until one has to wait.
    private mutating func drain(_ context: inout Context) {
        while let command = commands.first, !isBlocked, !commands.awaitsFact {
            if phase == .removed {
                commands.removeFirst()
                answer(command, .failure(.notFound), &context)
            } else if let isExpected = command.isExpected, commands.facts.isExpected == nil {
                find(.version(isExpected), &context)
            } else if commands.facts.isExpected == false {
                commands.removeFirst()
                answer(command, .failure(.preconditionFailed), &context)
            } else if needsStop(command.request) {
                stop(&context)
                if isBlocked { commands.forgetFacts() }
            } else if let query = missingFact(for: command.request, &context) {
                find(query, &context)
            } else {
                carryOut(command, commands.removeFirst(), &context)
            }
        }
        // The next event is the fact.
        if commands.awaitsFact { return }
        if commands.isEmpty {
            if let patience = commands.patience { context.actions.append(.cancelTimer(.patience(patience))) }
            commands.patience = nil
        } else if commands.patience == nil {
            let operation = nextOperation()
            commands.patience = operation
            context.actions.append(.setTimer(.patience(operation), after: Self.patience))
        }
        guard commands.requeuesAfterwards else { return }
        commands.requeuesAfterwards = false
        requeue(&context)
    }

    private mutating func find(_ query: Query, _ context: inout Context) {
        commands.awaitsFact = true
        context.actions.append(.query(query))
    }

    private mutating func supply(_ fact: Fact, _ context: inout Context) {
        guard commands.awaitsFact else { return }
        commands.supply(fact)
        drain(&context)
    }

    /// The name or placement that a command lacks; `nil`: it needs none, or has it.
    private func missingFact(for request: Command.Request, _ context: inout Context) -> Query? {
        switch request {
        case .retry:
            guard refusal(of: request) == nil, commands.facts.name == nil, let name = record.requestedFilename else { return nil }
            return .name(FilePath(name, in: record.download.folder))
        case .change(let wanted) where wanted.movesFile || wanted.move != nil:
            guard refusal(of: request) == nil else { return nil }
            if commands.facts.name == nil, let path = path(after: wanted) { return .name(path) }
            guard commands.facts.placement == nil, let move = wanted.move else { return nil }
            var download = record.download
            wanted.apply(to: &download)
            return .placement(move, download.rank, newest: newArrival(&context))
        case .pause, .resume, .cancel, .change, .remove, .noteFile: return nil
        }
    }

    /// The path to reserve for a change of the file's name or folder; `nil`: none. A cancelled download reserves nothing
    /// until it is retried. Before the origin's first response there may be no name, and only the folder is reserved.
    private func path(after wanted: DownloadChange) -> FilePath? {
        guard wanted.movesFile, state != .cancelled else { return nil }
        let name = wanted.filename.map(FileNaming.normalised) ?? record.requestedFilename ?? record.download.filename
        return name.map { FilePath($0, in: wanted.folder.map(FileNaming.normalised) ?? record.download.folder) }
    }

    /// The reason why a retry or a change is refused in the present state; `nil`: it can be carried out.
    private func refusal(of request: Command.Request) -> DownloadError? {
        switch request {
        case .retry: state == .failed || state == .cancelled ? nil : refusal("retry")
        case .change(let wanted):
            if let part = wanted.partBeforeCompletion, state == .completed || publishedName != nil {
                refusal("new \(part)")
            } else {
                wanted.move != nil && !record.download.isInQueue ? refusal("new position") : nil
            }
        case .pause, .resume, .cancel, .remove, .noteFile: nil
        }
    }

    /// Whether the work under way has to end before the command can be carried out.
    private func needsStop(_ request: Command.Request) -> Bool {
        guard holdsSlot || isFinishing else { return false }
        return switch request {
        case .pause, .cancel, .remove: true
        // A move does not stop a transfer: it is refused, because the download is not in the queue.
        case .change(let change) where change.move != nil: false
        case .change(let change): isRelinking(change) || (change.movesFile && isPublishing)
        case .resume, .retry, .noteFile: false
        }
    }

    private var isPublishing: Bool {
        if case .publishing = phase { true } else { false }
    }

    private func isRelinking(_ change: DownloadChange) -> Bool {
        change.url.map { $0.string != record.download.url || change.authorization != nil } ?? false
    }

    private mutating func stop(_ context: inout Context) {
        switch phase {
        case .opening:
            context.actions.append(.leaveQueue)
            phase = .resting
        case .transferring(let transfer): stop(transfer, because: .commands, &context)
        case .verifying:
            context.actions.append(.abandonVerification)
            stopped(keepsBytes: true, &context)
        case .publishing(let operation, _):
            phase = .publishing(operation, isWithdrawn: true)
            context.actions.append(.withdraw(operation))
        case .resting, .waiting, .delayed, .clearing, .stopping, .flushing, .completing, .removing, .removed: break
        }
    }

    /// Stops a transfer. If it has ended already, only the commit of its replacement is awaited.
    private mutating func stop(_ transfer: Transfer, because reason: StopReason, _ context: inout Context) {
        phase = .stopping(transfer, because: reason)
        if transfer.replacement?.ending == nil { context.actions.append(.stop) }
    }

    /// Carries out the commands that waited for the end of a transfer. A download that is still `downloading`
    /// afterwards enters the queue again.
    private mutating func interrupted(_ context: inout Context) {
        phase = .resting
        commands.requeuesAfterwards = true
        drain(&context)
    }

    private mutating func requeue(_ context: inout Context) {
        guard phase == .resting, state == .downloading else { return }
        if isShuttingDown {
            save(&context)
        } else {
            change(&context) { $0.state = .queued }
            enqueue(&context)
        }
    }

    private mutating func carryOut(_ command: Command, _ facts: CommandQueue.Facts, _ context: inout Context) {
        if let refusal = refusal(of: command.request) { return answer(command, .failure(refusal), &context) }
        switch command.request {
        case .pause: pause(command, &context)
        case .resume: resume(command, &context)
        case .cancel: cancel(command, &context)
        case .retry: startAfresh(command, as: .queued, named: facts.name, &context)
        case .change(let wanted): change(command, wanted, facts, &context)
        case .remove(let deletesFile): remove(command, deletesFile, &context)
        case .noteFile(let identity): noteFile(command, identity, &context)
        }
    }

    /// Answers a command that has no effect, once the current state is durable.
    private mutating func leave(_ command: Command, _ context: inout Context) {
        if let last = commits.indices.last, commits[last].number > lastFailure {
            commits[last].answers.append((command.waiter, shown))
        } else if failedSaves > 0 {
            save(answering: command.waiter, &context)
        } else {
            answer(command, .success(shown), &context)
        }
    }

    /// Leaves the queue, or cancels the wait for the next attempt.
    private mutating func leavePhase(_ context: inout Context) {
        switch phase {
        case .waiting: context.actions.append(.leaveQueue)
        case .delayed(let operation): context.actions.append(.cancelTimer(.retry(operation)))
        default: break
        }
        phase = .resting
    }

    private mutating func pause(_ command: Command, _ context: inout Context) {
        switch state {
        case .paused: leave(command, &context)
        case .completed, .failed, .cancelled: answer(command, .failure(refusal("pause")), &context)
        case .queued, .downloading, .retrying:
            leavePhase(&context)
            let count = written.byteCount
            change(&context) { download in
                download.state = .paused
                download.bytesReceived = count
            }
            save(answering: command.waiter, &context)
        }
    }

    private mutating func resume(_ command: Command, _ context: inout Context) {
        switch state {
        case .queued, .downloading, .retrying: leave(command, &context)
        case .completed, .cancelled: answer(command, .failure(refusal("resume")), &context)
        case .paused, .failed:
            forgetFailures()
            let arrival = state == .failed ? newArrival(&context) : record.download.arrival
            change(&context) { download in
                download.state = .queued
                download.arrival = arrival
                download.error = nil
            }
            save(answering: command.waiter, &context)
            enqueue(&context)
        }
    }

    private mutating func cancel(_ command: Command, _ context: inout Context) {
        switch state {
        case .cancelled: leave(command, &context)
        case .completed: answer(command, .failure(refusal("cancel")), &context)
        case .queued, .downloading, .retrying, .paused, .failed:
            leavePhase(&context)
            startAfresh(command, as: .cancelled, &context)
        }
    }

    /// Discards all bytes, to end or to begin again. The part files stay until the commit, so that a crash before it
    /// loses no bytes.
    /// - Parameter name: The name that is reserved for the file of another attempt; `nil`: the origin determines it.
    private mutating func startAfresh(
        _ command: Command, as next: DownloadState, named name: String? = nil, _ context: inout Context
    ) {
        // An attempt may have created the part file and written nothing.
        let mayHavePart = record.download.attempts > 0 || record.entity != nil || isCountedOn
        giveUpBytes(&context)
        record.download.filename = name ?? record.requestedFilename
        if next == .cancelled {
            context.actions.append(.releaseName)
        } else if name == nil {
            context.actions.append(.reserveFolder(record.download.folder))
        }
        record.distrustsMirrors = false
        forgetFailures()
        // Reset only here. When bytes are lost, the media type stays, so that no page replaces the file.
        record.download.mediaType = nil
        record.retryHold = nil
        let arrival = next == .queued ? newArrival(&context) : nil
        change(&context) { download in
            download.state = next
            download.arrival = arrival
            download.error = nil
            download.attempts = 0
        }
        let operation = save(answering: command.waiter, &context)
        if mayHavePart {
            phase = .clearing(operation, enqueues: next == .queued)
        } else if next == .queued {
            enqueue(&context)
        }
    }

    /// Makes an arrival that is later than all others: the last position in the queue.
    private func newArrival(_ context: inout Context) -> DownloadID {
        context.newIdentity(at: context.now)
    }

    /// Resets the counters of failed attempts, after a user's command.
    private mutating func forgetFailures() {
        record.transferCrashes = 0
        budget = RetryBudget(furthest: written.byteCount)
        resume = ResumeDecision()
    }

    // MARK: - Changing and removing

    private mutating func change(
        _ command: Command, _ wanted: DownloadChange, _ facts: CommandQueue.Facts, _ context: inout Context
    ) {
        let placement = facts.placement
        let relinks = isRelinking(wanted)
        let goesOn = relinks && [.queued, .downloading, .retrying].contains(state)
        if goesOn { leavePhase(&context) }
        if wanted.movesFile { move(wanted, to: facts.name, &context) }
        if relinks, let url = wanted.url { relink(to: url, authorization: wanted.authorization) }
        if let mirrors = wanted.mirrors {
            record.mirrors = mirrors.map(\.string)
            record.distrustsMirrors = false
        }
        if let segments = wanted.segments { record.requestedSegments = segments }
        if let others = placement?.others, !others.isEmpty { context.actions.append(.reassign(others)) }
        let count = written.byteCount
        change(&context) { download in
            wanted.apply(to: &download)
            if let rank = placement?.rank {
                download.priority = rank.priority
                download.arrival = rank.arrival == download.id ? nil : rank.arrival
            }
            if goesOn {
                if download.state != .queued { download.error = nil }
                download.state = .queued
                download.bytesReceived = count
            }
        }
        if wanted.speedLimit != nil { context.actions.append(.setSpeedLimit(record.download.speedLimit)) }
        save(answering: command.waiter, &context)
        // The result has the position of the move, even if the queue changes before the commit.
        if let placement { commits[commits.count - 1].answers[0].download.position = placement.position }
        if goesOn {
            enqueue(&context)
        } else if phase == .waiting, wanted.priority != nil || placement != nil {
            context.actions.append(.rearrange)
        }
    }

    /// Changes the file's name or folder. The name is reserved.
    private mutating func move(_ wanted: DownloadChange, to name: String?, _ context: inout Context) {
        if let folder = wanted.folder { record.download.folder = FileNaming.normalised(folder) }
        if let filename = wanted.filename {
            record.requestedFilename = FileNaming.normalised(filename)
            record.lacksExtension = false
        }
        record.download.filename = name ?? record.requestedFilename ?? record.download.filename
        if record.download.filename == nil, state != .cancelled {
            context.actions.append(.reserveFolder(record.download.folder))
        }
    }

    /// Replaces the URL by another one of the same content. The bytes stay, and the new origin has to validate them.
    /// The failures of the old origin are forgotten, and headers that were meant for it alone are removed.
    private mutating func relink(to url: HTTPURL, authorization: String?) {
        if url.origin != self.url.origin { record.headers = [] }
        if let authorization {
            record.headers.removeAll { $0.name.lowercased() == "authorization" }
            record.headers.append(RequestHeader(name: "Authorization", value: authorization))
        }
        // The source that validated these bytes will not be used again.
        let former = record.download.url
        if record.entity != nil, record.entity?.source == nil { record.entity?.source = former }
        self.url = url
        record.download.url = url.string
        record.retryHold = nil
        record.distrustsMirrors = false
        forgetFailures()
    }

    private mutating func noteFile(_ command: Command, _ identity: FileIdentity?, _ context: inout Context) {
        let download = record.download
        guard state == .completed, download.fileMissing != (identity == nil) || (identity != nil && identity != download.file)
        else {
            return answer(command, .success(shown), &context)
        }
        change(&context) { download in
            download.fileMissing = identity == nil
            if let identity { download.file = identity }
        }
        save(answering: command.waiter, &context)
    }

    private mutating func remove(_ command: Command, _ deletesFile: Bool, _ context: inout Context) {
        leavePhase(&context)
        // The file is removed before the record. A crash in between leaves a record whose missing file is noticed
        // later. The reverse order would leave a file without a record.
        if deletesFile { removeFile(&context) }
        submitRemoval(
            Removal(waiter: command.waiter, deletesFile: deletesFile, cancellation: announceCancellation(&context)), &context)
    }

    /// Prepares the webhook message for a live download, which the removal cancels; `nil`: none is needed.
    private mutating func announceCancellation(_ context: inout Context) -> DownloadID? {
        guard state.isLive else { return nil }
        var download = record.download
        download.state = .cancelled
        download.endedAt = context.now
        download.bytesPerSecond = 0
        download.stalled = false
        download.noteChange(at: context.now)
        return announceEnd(as: download, &context)
    }

    private mutating func submitRemoval(_ removal: Removal, _ context: inout Context) {
        let operation = nextOperation()
        commits.append(Commit(number: operation, countsOnNothing: true, announces: unannounced.ids))
        phase = .removing(operation, removal)
        context.actions.append(.saveRemoval(operation, announcing: unannounced.deliveries))
    }

    private mutating func removalCommitted(_ removal: Removal, _ error: StoreError?, _ context: inout Context) {
        guard let error else {
            context.actions.append(.forgetBytes)
            context.actions.append(.discardPart)
            phase = .removed
            failedSaves = 0
            context.actions.append(.showRemoval)
            context.actions.append(.log(.removed(id)))
            context.actions.append(.answer(removal.waiter, .success(record.download)))
            return drain(&context)
        }
        // A full disk refuses the removal until the bytes are gone. A crash in between leaves a record without bytes,
        // which is noticed when they are needed.
        if error == .full, !removal.hasMadeRoom, state != .completed || removal.deletesFile {
            makeRoom(&context)
            var removal = removal
            removal.hasMadeRoom = true
            return submitRemoval(removal, &context)
        }
        if let cancellation = removal.cancellation { unannounced.withdraw(cancellation) }
        context.actions.append(.abandonRemoval)
        context.actions.append(.answer(removal.waiter, .failure(DownloadError(error))))
        phase = .resting
        switch state {
        case .queued, .downloading, .retrying:
            let count = written.byteCount
            change(&context) { download in
                download.state = .queued
                download.bytesReceived = count
            }
            save(&context)
            enqueue(&context)
        case .completed:
            if removal.deletesFile, !record.download.fileMissing { change(&context) { $0.fileMissing = true } }
            // The save timer of an earlier failure may have fired during the removal, without effect.
            if removal.deletesFile || failedSaves > 0 { save(&context) }
        case .paused, .failed, .cancelled: save(&context)
        }
        drain(&context)
    }

    /// Frees the download's disk space before the removal is recorded.
    private mutating func makeRoom(_ context: inout Context) {
        if state == .completed {
            change(&context) { $0.fileMissing = true }
        } else {
            giveUpBytes(&context)
            dropOriginName(&context)
            isCountedOn = true
            change(&context) { _ in }
            context.actions.append(.discardPart)
        }
    }

    private func removeFile(_ context: inout Context) {
        guard state == .completed, !record.download.fileMissing, let path = record.download.path,
            let file = record.download.file
        else { return }
        context.actions.append(.removeFile(path, file))
    }
}

// MARK: - The store

extension DownloadMachine {
    private mutating func committed(_ operation: Operation, _ error: StoreError?, _ context: inout Context) {
        guard let index = commits.firstIndex(where: { $0.number == operation }) else { return }
        let commit = commits.remove(at: index)
        let announced = error == nil ? unannounced.confirm(commit.announces) : []
        // Delivered last, so that readers see the end before the receiver does.
        defer { if !announced.isEmpty { context.actions.append(.deliver(announced)) } }
        if error != nil { lastFailure = max(lastFailure, commit.number) }
        if entity == .saving(operation) { entity = error == nil ? .saved : .unsaved }
        if error == nil, commit.countsOnNothing, commit.number >= bytesSince { isCountedOn = false }
        switch phase {
        case .completing(operation, let file, let time): return completionCommitted(file, at: time, commit, error, &context)
        case .removing(operation, let removal): return removalCommitted(removal, error, &context)
        case .clearing(operation, let enqueues):
            // A full disk refuses the commit until the discarded bytes are removed.
            if error == .full, !hasMadeRoom {
                hasMadeRoom = true
                isCountedOn = true
                context.actions.append(.discardPart)
                let next = save(&context)
                commits[commits.count - 1].answers = commit.answers
                phase = .clearing(next, enqueues: enqueues)
                return
            }
            cleared(error, enqueues: enqueues, &context)
            conclude(commit, error, &context)
            return drain(&context)
        default: conclude(commit, error, &context)
        }
        if let (transfer, reason) = current, let replacement = transfer.replacement, replacement.commit == operation {
            replacementRecorded(error, transfer, reason, &context)
        }
    }

    /// Ends the phase `clearing`. If the commit has failed, the store still counts on the bytes.
    private mutating func cleared(_ error: StoreError?, enqueues: Bool, _ context: inout Context) {
        phase = .resting
        hasMadeRoom = false
        if error == nil {
            context.actions.append(.discardPart)
        } else {
            isCountedOn = true
        }
        if enqueues { enqueue(&context) }
    }

    private mutating func conclude(_ commit: Commit, _ error: StoreError?, _ context: inout Context) {
        let isNewest = commits.allSatisfy { $0.number < commit.number } && phase != .removed
        if let error {
            if isNewest { saveLater(commit, error, &context) }
        } else if failedSaves > 0, isNewest, commit.number > lastFailure {
            failedSaves = 0
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
        case .cancelled where phase == .resting: context.actions.append(.discardPart)
        default: break
        }
    }

    /// Schedules another save after a failed one. Without it, a download whose failure was not saved would begin again
    /// at the next start. A stopping service does not wait for a timer: it saves once more at once.
    private mutating func saveLater(_ commit: Commit, _ error: StoreError, _ context: inout Context) {
        guard error != .closed, error != .fenced else { return }
        if let shutdownAfter {
            failedSaves += 1
            if commit.number <= shutdownAfter { save(&context) }
            return
        }
        let delay = Self.firstSaveDelay * Double(1 << min(failedSaves, 6))
        failedSaves += 1
        context.actions.append(.setTimer(.save, after: min(delay, Self.longestSaveDelay)))
    }
}
