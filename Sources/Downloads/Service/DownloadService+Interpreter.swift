internal import DownloadCore
internal import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import HTTPCore
internal import System

/// The interpreter: carries out the actions of the machines, and sends them the resulting events.
extension DownloadService {
    /// The result of work outside the actor.
    enum Message: Sendable {
        case event(DownloadID, DownloadMachine.Event)
        case report(TransferReport)
        case partOpened(DownloadID, DownloadMachine.Operation, Result<PartFile, FileError>)
        case verified(DownloadID, DownloadMachine.Operation, VerifiedFile)
        /// Names of files have been removed for a purpose, or could not be.
        case removed(DownloadID, purpose: String, Result<RemovedFiles, FileError>)
        case committed(WriteBatch, StoreError?)
        case replica(ReplicaEvent)
        /// A failed operation on a file has shown that the downloads directory is away.
        case volumeSuspected
        /// A timer is due.
        case alarm
        /// The messages before this one have been received.
        case settled(CheckedContinuation<Void, Never>)
    }

    /// Changes of several commands that become durable together.
    struct WriteBatch {
        var changes: [StoreChange] = []
        var commits: [(DownloadID, DownloadMachine.Operation)] = []
        /// Log events about these changes. They are discarded if the database refuses the changes of a replica without a lease.
        var news: [DownloadLogEvent] = []
    }

    /// The receiver of a command's result.
    enum ResultReceiver {
        case continuation(CheckedContinuation<Result<Download, DownloadError>, Never>)
        case receiver((Result<Download, DownloadError>) -> Void)

        func receive(_ result: Result<Download, DownloadError>) {
            switch self {
            case .continuation(let continuation): continuation.resume(returning: result)
            case .receiver(let receive): receive(result)
            }
        }
    }

    /// Counts the results of all commands of one piece.
    final class AnswerCollector {
        /// The numbers of the waits for these results.
        let waiters: Range<DownloadMachine.Waiter>
        private var isAwaited: [Bool]
        /// The number of results that are still awaited.
        private(set) var left: Int
        private var done = 0
        private var failure: DownloadError?
        private let continuation: CheckedContinuation<Result<Int, DownloadError>, Never>

        init(
            _ waiters: Range<DownloadMachine.Waiter>, _ continuation: CheckedContinuation<Result<Int, DownloadError>, Never>
        ) {
            self.waiters = waiters
            isAwaited = Array(repeating: true, count: waiters.count)
            left = waiters.count
            self.continuation = continuation
        }

        /// Adds the result of one command. Only the first one counts.
        func add(_ result: Result<Download, DownloadError>, of waiter: DownloadMachine.Waiter) {
            let offset = Int(waiter - waiters.lowerBound)
            guard isAwaited[offset] else { return }
            isAwaited[offset] = false
            switch result {
            case .success: done += 1
            // The download has changed or was removed before the command was carried out.
            case .failure(.illegalTransition), .failure(.notFound), .failure(.preconditionFailed): break
            case .failure(let error): failure = failure ?? error
            }
            left -= 1
            if left == 0 { continuation.resume(returning: failure.map(Result.failure) ?? .success(done)) }
        }
    }

    // MARK: - Events

    func receive(_ messages: [Message]) {
        for message in messages { receive(message) }
        schedule()
    }

    private func receive(_ message: Message) {
        switch message {
        case .event(let id, let event): send(event, to: id)
        case .report(let report): receive(report)
        case .partOpened(let id, let operation, let result): partOpened(id, operation, result)
        case .verified(let id, let operation, let file):
            entries[id]?.work?.verified = file
            send(.verified(operation, .matches), to: id)
        case .removed(let id, let purpose, let result): removed(id, purpose, result)
        case .committed(let batch, let error):
            for (id, operation) in batch.commits { send(.committed(operation, error), to: id) }
            if let error { coordination.commitFailed(batch.changes, error, in: self) }
        case .replica(let event): coordination.receive(event, in: self)
        case .volumeSuspected: watchVolume()
        case .alarm: fireTimers()
        case .settled(let continuation): continuation.resume()
        }
    }

    /// Waits until the results of all commits are published that the store has reported by now.
    nonisolated func settle() async {
        await withCheckedContinuation { continuation in
            if !inbox.yield(.settled(continuation)) { continuation.resume() }
        }
    }

    func send(_ event: DownloadMachine.Event, to id: DownloadID) {
        if let entry = entries[id] { send(event, to: entry) }
    }

    /// Sends an event to a machine and carries out its actions, and then the events that these cause.
    func send(_ event: DownloadMachine.Event, to entry: LiveDownload) {
        if backlog != nil {
            backlog?.append((entry.id, event))
            return
        }
        backlog = []
        handle(event, entry)
        handleBacklog()
    }

    private func handle(_ event: DownloadMachine.Event, _ entry: LiveDownload) {
        if entry.pausedEffects != nil {
            entry.postponed.append(event)
            return
        }
        context.now = clock.now
        if case .command(let command) = event {
            guard coordination.ownsDownloads else { return answer(command.waiter, .failure(.overloaded)) }
            noteProgress(entry)
        }
        deliver(event, to: entry)
        var effects = LiveDownload.Effects(actions: [])
        swap(&effects.actions, &context.actions)
        carryOut(consume effects, entry)
    }

    /// Delivers an event to the machine, with the name or the obstacle that only the service knows.
    private func deliver(_ event: DownloadMachine.Event, to entry: LiveDownload) {
        switch event {
        case .slotAcquired:
            let obstacle = names.objection(toFolder: entry.machine.record.download.folder, for: entry.id)
            entry.machine.handle(.slotAcquired(obstacle: obstacle), &context)
        case .accepted(let operation, let acceptance, _):
            guard let wanted = entry.machine.wantedName(acceptance, of: operation) else { fallthrough }
            let path = names.reserve(FilePath(wanted, in: entry.machine.record.download.folder), for: entry.id)
            let name = DownloadMachine.ResponseName(wanted: wanted, reserved: path.name)
            entry.machine.handle(.accepted(operation, acceptance, name: name), &context)
        default: entry.machine.handle(event, &context)
        }
    }

    /// Finds a fact that a command needs.
    private func find(_ query: DownloadMachine.Query, for entry: LiveDownload) -> DownloadMachine.Fact {
        let id = entry.id
        switch query {
        case .version(let isExpected):
            guard let published = index.download(id) else { return .version(isExpected: false) }
            // If readers see only durable versions, and the machine has a newer one, the client means an outdated version.
            let isCurrent = !coordination.publishesCommits || published.revision == entry.machine.record.download.revision
            return .version(isExpected: isCurrent && isExpected(published))
        case .name(let path): return .name(names.reserve(path, for: id).name)
        case .placement(let move, let rank, let newest):
            return .placement(QueuePlacement(of: id, rank, move, in: index.waiting, newest: newest))
        }
    }

    /// Carries out actions in order. The removal of a file interrupts them until it has ended.
    private func carryOut(_ effects: consuming LiveDownload.Effects, _ entry: LiveDownload) {
        // The store publishes changes together with the records that are saved with them.
        let isAlone = coordination.publishesCommits && group == nil
        if isAlone { group = WriteBatch() }
        defer { if isAlone { submitGroup() } }
        while effects.next < effects.actions.count {
            let action = effects.actions[effects.next]
            effects.next += 1
            switch action {
            case .answer(let waiter, let result) where effects.removed.isPending: effects.late.append((waiter, result))
            // After the result, power loss must not restore the file.
            case .answer(let waiter, let result) where entry.unflushedRemovals > 0:
                entry.unflushedResults.append((waiter, result))
            case .query(let query):
                entry.machine.handle(.fact(find(query, for: entry)), &context)
                effects.actions += context.actions
                context.actions.removeAll(keepingCapacity: true)
            default:
                if case .goesOn = perform(action, entry) { continue }
                entry.pausedEffects = consume effects
                tally.note(entry, isBusy: true, isFinishing: entry.isFinishing)
                return
            }
        }
        if effects.removed.isPending { finish(effects.removed, of: entry, answering: effects.late) }
        if context.actions.isEmpty {
            effects.actions.removeAll(keepingCapacity: true)
            swap(&effects.actions, &context.actions)
        }
        tidy(entry)
    }

    /// The course of the remaining actions after one of them: they go on or wait for its end.
    enum Course {
        case goesOn, interrupts
    }

    /// Begins to remove names of files. A failure changes nothing and is only logged.
    private func remove(
        _ purpose: String, of id: DownloadID,
        _ body: @escaping @Sendable () throws(FileError) -> RemovedFiles
    ) -> Course {
        blocking(.disk, body) { .removed(id, purpose: purpose, $0) }
        return .interrupts
    }

    /// Resumes the actions that waited for the removal of a file.
    private func removed(_ id: DownloadID, _ purpose: String, _ result: Result<RemovedFiles, FileError>) {
        guard let entry = entries[id], var effects = entry.pausedEffects else { return }
        entry.pausedEffects = nil
        var failure: FileError?
        switch result {
        case .success(let files): effects.removed.add(files)
        case .failure(let error):
            failure = error
            log(.warning("cannot \(purpose) \(id): \(error.message)"))
        }
        backlog = []
        if case .removeFile(let file) = effects.actions[effects.next - 1] {
            if failure == nil {
                names.forget(file.path, of: id)
                noteStrayBytes { $0.noteRemovedFile(file.length) }
            }
            context.now = clock.now
            entry.machine.handle(.fileRemoved(failure), &context)
            effects.actions += context.actions
            context.actions.removeAll(keepingCapacity: true)
        }
        carryOut(consume effects, entry)
        while entry.pausedEffects == nil, !entry.postponed.isEmpty { handle(entry.postponed.removeFirst(), entry) }
        handleBacklog()
    }

    private func handleBacklog() {
        while let (id, event) = backlog?.first {
            backlog?.removeFirst()
            if let entry = entries[id] { handle(event, entry) }
        }
        backlog = nil
    }

    /// Makes the removal of files durable and then frees their disk space. Sends the results that wait for each.
    /// - Parameter late: The results that wait for both.
    private func finish(
        _ removed: RemovedFiles, of entry: LiveDownload,
        answering late: [(DownloadMachine.Waiter, Result<Download, DownloadError>)]
    ) {
        entry.unflushedRemovals += 1
        Task {
            await removed.flush()
            entry.unflushedRemovals -= 1
            if entry.unflushedRemovals == 0 {
                let results = entry.unflushedResults
                entry.unflushedResults = []
                for (waiter, result) in results { self.answer(waiter, result) }
            }
            await removed.free()
            roomWaits.noteRemoval()
            for (waiter, result) in late { self.answer(waiter, result) }
        }
    }

    /// Updates the machine's counters, so that the result of a command has what readers see.
    private func noteProgress(_ entry: LiveDownload) {
        guard entry.machine.activity.contains(.receiving), let attempt = entry.work?.attempt else { return }
        let counters = attempt.counters
        entry.machine.noteProgress(
            bytesReceived: counters.received, bytesPerSecond: counters.bytesPerSecond, stalled: counters.isStalled,
            ranges: attempt.written.outline(atMost: Download.rangeLimit))
    }

    /// Whether a command's result is awaited.
    func isAwaited(_ waiter: DownloadMachine.Waiter) -> Bool { waits.contains(waiter) }

    func answer(_ waiter: DownloadMachine.Waiter, _ result: Result<Download, DownloadError>) {
        // Only the number of the results matters, and one timer is set for all.
        if let collector = waits.collector(of: waiter) { return collector.add(result, of: waiter) }
        guard let receiver = waits.remove(waiter) else { return }
        timers.cancel(.answer(waiter))
        let result = result.map { download in
            var download = download
            download.waitingFor = index.waitingReason(of: download)
            download.position = download.position ?? index.position(of: download)
            return download
        }
        receiver.receive(result)
    }

    /// Releases the resources that the machine's phase does not need, and the machine itself if it is idle.
    func tidy(_ entry: LiveDownload) {
        // The remaining actions may need these resources.
        guard entry.pausedEffects == nil else { return }
        let activity = entry.machine.activity
        tally.note(entry, isBusy: activity.contains(.busy), isFinishing: activity.contains(.finishing))
        if entry.hasClaim, !activity.contains(.takingRoom) { releaseRoom(of: entry) }
        if activity.contains(.busy) { return }
        if isShuttingDown, tally.busy == 0 { tally.endWait() }
        if let hasher = entry.work?.hasher, !activity.contains(.usingFile), entry.machine.record.download.state.isLive {
            hasher.rest()
            // Verification, verified file and publication would keep the part file open.
            entry.work = nil
            work(entry).hasher = hasher
        } else if !activity.contains(.usingFile) {
            entry.work = nil
        }
        guard entry.pins == 0, entry.postponed.isEmpty, !isBeingRead(entry.id),
            coordination.release(entry, in: self)
        else { return }
        if let changeID = entry.reservedEventID { publisher.abandon(changeID) }
        let id = entry.id
        guard entries[id] === entry else { return }
        entries[id] = nil
    }

    /// Removes the part file without bytes of a download that is released afterwards.
    func discardPart(of entry: LiveDownload) {
        entry.membership.mayHavePart = false
        entry.work = nil
        carryOut(LiveDownload.Effects(actions: [.discardPart]), entry)
    }

    // MARK: - Actions

    private func perform(_ action: DownloadMachine.Action, _ entry: LiveDownload) -> Course {
        let id = entry.id
        switch action {
        case .enqueue:
            entry.queuedAt = .now
            if quota.isLimited, !entry.machine.bytes.written.ranges.isEmpty { gate.noteQueued(id) }
            coordination.enqueue(entry, in: self)
        case .enqueueWithRoom(let bytes, let folder):
            entry.queuedAt = .now
            roomWaits.add(id, needing: bytes, in: folder)
            if bytes == 0, folder.isEmpty { gate.isDiskLow = true }
            watchRoom()
        case .leaveQueue:
            queue.remove(id)
            roomWaits.remove(id)
            gate.noteLeft(id)
            coordination.leaveQueue(entry, in: self)
        case .rearrange: queue.rearrange(id, to: entry.machine.record.download.rank)
        case .reassign(let others):
            reassign(others)
        case .openPart(let operation, let length, let published):
            let (generation, durable) = (entry.machine.record.partGeneration, entry.machine.record.segments)
            blocking(.disk) { [partFiles] () throws(FileError) in
                if let published { return try partFiles.openPublished(published.path, length: published.identity.size) }
                return try partFiles.openPart(id, generation, holding: length, durable: durable)
            } then: {
                .partOpened(id, operation, $0)
            }
        case .start(let operation, let ask): start(operation, ask, entry)
        case .stop: entry.work?.attempt?.cancel()
        case .forgetTransfer:
            if running.remove(id) != nil { journal?.end(id) }
            entry.work?.attempt?.counters.end()
            entry.work?.attempt = nil
        case .forgetBytes:
            entry.work?.part = nil
            entry.work?.hasher = nil
            entry.work?.verified = nil
        case .flush(let operation, let written, let trims): flush(operation, written, trims: trims, entry)
        case .verify(let operation, let length, let expected): verify(operation, length, expected, entry)
        case .abandonVerification: entry.work?.verification?.abandon()
        case .publish(let operation, let path): publish(operation, path, entry)
        case .withdraw(let operation):
            if entry.work?.publication?.abandon() == true { backlog?.append((id, .withdrawn(operation))) }
        case .save(let operation, let record, let messages):
            save(record, operation, changeID: entry.eventID, announcing: messages)
        case .saveCompletion(let operation, let record, let messages):
            let changeID = publisher.reserve()
            entry.reservedEventID = changeID
            save(record, operation, changeID: changeID, announcing: messages)
            coordination.publishCompletion(record.download, of: entry, in: self)
        case .saveRemoval(let operation, let messages):
            let changeID = entry.reservedEventID ?? publisher.reserve()
            entry.reservedEventID = changeID
            submit(.remove(id, changeID: changeID), with: kept(messages) + entry.removalChanges, for: (id, operation))
        case .deliver(let messages):
            Task { [webhooks, deliveries = deliveries(of: messages)] in
                for delivery in deliveries { await webhooks?.post(delivery) }
            }
        case .abandonRemoval:
            if let changeID = entry.reservedEventID { publisher.abandon(changeID) }
            entry.reservedEventID = nil
        case .saveProgress(let progress):
            volume.noteSavedRecords()
            store.note(progress)
        case .publishVersion(let download): coordination.publish(download, of: entry, in: self)
        case .showRemoval:
            noteStrayBytes { $0.noteRemovedRecord(entry.machine.record.download.finishedBytes) }
            coordination.publishRemoval(of: entry, in: self)
            entry.reservedEventID = nil
            names.release(id)
            let download = entry.machine.record.download
            if download.state == .completed, let path = download.path { names.forget(path, of: id) }
        case .claimName(let path):
            names.release(id)
            if let earlier = names.publish(path, by: id) { noteLoss(of: path, earlier) }
        case .reserveFolder(let folder): names.reserve(folder: folder, for: id)
        case .restoreName(let path): names.restore(path.name, in: path.folder, for: id)
        case .releaseName: names.release(id)
        // Answered by ``carryOut(_:_:)``.
        case .query: break
        case .setSpeedLimit(let limit): entry.work?.speedLimiter.setLimit(bytesPerSecond: limit)
        case .setTimer(let timer, let delay): timers.set(.machine(id, timer), at: .now + delay)
        case .cancelTimer(let timer): timers.cancel(.machine(id, timer))
        case .answer(let waiter, let result): answer(waiter, result)
        case .log(let event):
            if coordination.publishesCommits, event.tellsOfRecord, group != nil { group?.news.append(event) } else { log(event) }
        case .discardNewPart(let generation):
            return remove("remove the new version of", of: id) { [partFiles] () throws(FileError) in
                try partFiles.removePart(id, generation)
            }
        case .discardOldParts(let generation):
            return remove("remove the earlier version of", of: id) { [partFiles] () throws(FileError) in
                try partFiles.removeOtherParts(id, than: generation)
            }
        case .discardPart:
            return remove("remove the partial bytes of", of: id) { [partFiles] () throws(FileError) in
                try partFiles.removeParts(id)
            }
        case .discardFile(let file): return coordination.discard(file, of: id, in: self)
        case .removeFile(let file):
            // Another download may have a file with the same bytes.
            let isOthers = names.isClaimed(file.path, byOtherThan: id)
            return remove("remove the file of", of: id) { [finishedFiles] () throws(FileError) in
                isOthers ? RemovedFiles() : try finishedFiles.remove(file)
            }
        case .finishPublishing:
            let inbox = inbox
            finishedFiles.finishPublishing(id) { error in
                let result = error.map(Result.failure) ?? .success(RemovedFiles())
                inbox.yield(.removed(id, purpose: "remove the part file of", result))
            }
            return .interrupts
        }
        return .goesOn
    }

    /// Runs work that may wait for a disk outside the actor, and sends its result to the inbox.
    func blocking<Value: Sendable>(
        _ executor: BlockingExecutor, _ work: @escaping @Sendable () throws(FileError) -> Value,
        then message: @escaping @Sendable (Result<Value, FileError>) -> Message
    ) {
        executor.submit { [inbox, examination] in
            let result: Result<Value, FileError>
            do throws(FileError) { result = .success(try work()) } catch { result = .failure(examination.result(of: error)) }
            inbox.yield(message(result))
        }
    }

    // MARK: - Publishing and saving

    private func save(
        _ record: DownloadRecord, _ operation: DownloadMachine.Operation, changeID: EventID,
        announcing messages: [EndAnnouncement]
    ) {
        var record = record
        record.download.changeID = changeID
        submit(.save(record), with: kept(messages), for: (record.id, operation))
    }

    private func kept(_ messages: [EndAnnouncement]) -> [StoreChange] {
        deliveries(of: messages).map(StoreChange.keepDelivery)
    }

    /// Submits a change and others with it, as part of the group if there is one.
    /// - Parameter commit: The download and the machine's operation that the changes belong to; `nil`: none.
    func submit(
        _ change: StoreChange?, with others: [StoreChange] = [], for commit: (DownloadID, DownloadMachine.Operation)? = nil
    ) {
        let isAlone = group == nil
        if isAlone { group = WriteBatch() }
        if let change { group?.changes.append(change) }
        group?.changes += others
        if let commit { group?.commits.append(commit) }
        if isAlone { submitGroup() }
    }

    /// Submits the changes of the group as one commit.
    func submitGroup() {
        guard let batch = group else { return }
        group = nil
        if batch.changes.isEmpty { return batch.news.forEach(log) }
        // The trusted time is saved before a record with a later time.
        noteTrustedTime()
        volume.noteSavedRecords()
        let inbox = inbox
        store.submit(batch.changes, isAwaited: !waits.isEmpty).whenDone { [log, degradation = parts.degradation] error in
            if error != .fenced { batch.news.forEach(log) }
            if error != nil { degradation.withLock { $0.suspect() } }
            inbox.yield(.committed(batch, error))
        }
    }

    /// Checks a finished file whose path another file has got, and records its loss.
    private func noteLoss(of path: FilePath, _ id: DownloadID) {
        guard let download = index.download(id), download.state == .completed, download.path == path, !download.fileMissing
        else { return }
        Task { _ = try? await self.currentFile(of: id) }
    }

    // MARK: - Time

    private func fireTimers() {
        let now = ContinuousClock.now
        while let key = timers.takeDue(now: now) {
            switch key {
            case .machine(let id, let timer): send(.timer(timer), to: id)
            case .answer(let waiter): answer(waiter, .failure(.unconfirmed))
            case .answers(let waiters): for waiter in waiters { answer(waiter, .failure(.unconfirmed)) }
            case .waitLimit: endWaits(now: now)
            case .speedSchedule: limitSpeed()
            case .pulse: observeTransfers(now: now)
            }
        }
        timers.renewAlarm()
    }
}
