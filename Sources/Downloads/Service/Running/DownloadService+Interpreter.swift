internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import System

/// The interpreter: carries out the actions of the machines, and sends them the resulting events.
extension DownloadService {
    /// The result of work outside the actor.
    enum Message: Sendable {
        case event(RecordID, DownloadMachine.Event)
        case report(TransferReport)
        case partOpened(RecordID, DownloadMachine.Operation, Result<PartFile, FileError>)
        case verified(RecordID, DownloadMachine.Operation, VerifiedFile)
        /// Names of files have been removed for a purpose, or could not be.
        case removed(RecordID, purpose: String, Result<RemovedFiles, FileError>)
        case committed(MachineRunner.ChangeGroup, StoreError?)
        case replica(ReplicaEvent)
        /// A failed operation on a file has shown that the downloads directory is away.
        case volumeSuspected
        /// A timer is due.
        case alarm
        /// The messages before this one have been received.
        case settled(CheckedContinuation<Void, Never>)
    }

    /// Counts the results of all commands of one piece.
    final class ResultCount {
        /// The number of results that are still awaited.
        private var left: Int
        private var done = 0
        private var failure: DownloadError?
        private let continuation: CheckedContinuation<Result<Int, DownloadError>, Never>

        init(_ count: Int, _ continuation: CheckedContinuation<Result<Int, DownloadError>, Never>) {
            (left, self.continuation) = (count, continuation)
        }

        /// Adds the result of one command.
        func add(_ result: Result<Download, DownloadError>) {
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
            entries[id]?.resources?.verified = file
            send(.verified(operation, .matches), to: id)
        case .removed(let id, let purpose, let result): removed(id, purpose, result)
        case .committed(let group, let error):
            for (id, operation) in group.commits { send(.committed(operation, error), to: id) }
            if let error { coordination.commitFailed(group.changes, error, in: self) }
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

    /// Sends an event to a machine. Carries out its actions, and all events and actions that follow from them.
    func send(_ event: DownloadMachine.Event, to id: RecordID) {
        runner.send(event, to: id)
        run()
    }

    /// Makes the changes of all events that the body sends durable together.
    func together(_ body: () -> Void) {
        runner.openGroup()
        body()
        closeGroup()
    }

    /// Submits the changes since `runner.openGroup()` as one commit.
    func closeGroup() {
        runner.closeGroup()
        run()
    }

    /// Carries out the steps of the machines, until none is left. Has no effect during a step: what it has sent follows.
    func run() {
        guard runner.begin() else { return }
        var entry: LiveDownload?
        while let step = runner.next() {
            if let id = step.id, entry?.id != id { entry = entries[id] }
            // Consumed, so that the runner gets the only reference to the array of actions.
            switch consume step {
            case .handle(let event, _): if let entry { handle(event, entry) }
            case .perform(let actions, _):
                if let entry { for action in actions { perform(action, entry) } }
                runner.recycle(actions)
            case .end(let id, let removals):
                if let removals { finish(removals, of: id) }
                if let entry { tidy(entry) }
                entry = nil
            case .commit(let group): commit(group)
            }
        }
    }

    private func handle(_ event: DownloadMachine.Event, _ entry: LiveDownload) {
        context.now = clock.now
        if case .command(let command) = event {
            guard coordination.ownsDownloads else { return answer(command.waiter, .failure(.overloaded)) }
            noteProgress(entry)
        }
        deliver(event, to: entry)
        runner.add(&context.actions)
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
            let isCurrent = !isShared || published.revision == entry.machine.record.download.revision
            return .version(isExpected: isCurrent && isExpected(published))
        case .name(let path): return .name(names.reserve(path, for: id).name)
        case .placement(let move, let rank, let newest):
            return .placement(QueuePlacement(of: id, rank, move, in: index.waiting, newest: newest))
        }
    }

    /// Begins to remove names of files. A failure changes nothing and is only logged.
    private func remove(
        _ purpose: String, of entry: LiveDownload, _ body: @escaping @Sendable () throws(FileError) -> RemovedFiles
    ) {
        let id = entry.id
        interrupt(entry)
        blocking(.disk, body) { .removed(id, purpose: purpose, $0) }
    }

    /// Interrupts the actions of a download until ``Message/removed(_:purpose:_:)``.
    func interrupt(_ entry: LiveDownload) {
        runner.interrupt()
        busyCounts.note(entry, isBusy: true, isFinishing: entry.isFinishing)
    }

    /// Resumes the actions that waited for the removal of a file.
    private func removed(_ id: RecordID, _ purpose: String, _ result: Result<RemovedFiles, FileError>) {
        guard let action = runner.interruption(of: id) else { return }
        var (files, failure): (RemovedFiles, FileError?) = (RemovedFiles(), nil)
        switch result {
        case .success(let removed): files = removed
        case .failure(let error):
            failure = error
            log(.warning("cannot \(purpose) \(id): \(error.message)"))
        }
        var event: DownloadMachine.Event?
        if case .removeFile(let file) = action {
            if failure == nil {
                names.forget(file.path, of: id)
                noteStrayBytes { $0.noteRemovedFile(file.length) }
            }
            event = .fileRemoved(failure)
        }
        runner.resume(id, with: files, then: event)
        run()
    }

    /// Makes the removal of files durable and then frees their disk space. Sends the results that wait for each.
    private func finish(_ removals: MachineRunner.Removals, of id: RecordID) {
        Task {
            await removals.files.flush()
            for answer in runner.flushed(id) { self.answer(answer.waiter, answer.result) }
            await removals.files.free()
            gate.roomWaits.noteRemoval()
            for answer in removals.late { self.answer(answer.waiter, answer.result) }
        }
    }

    /// Updates the machine's counters, so that the result of a command has what readers see.
    private func noteProgress(_ entry: LiveDownload) {
        guard entry.machine.activity.contains(.receiving), let attempt = entry.resources?.attempt else { return }
        let counters = attempt.counters
        entry.machine.noteProgress(
            bytesReceived: counters.received, bytesPerSecond: counters.bytesPerSecond, stalled: counters.isStalled,
            ranges: attempt.written.outline(atMost: Download.rangeLimit))
    }

    /// Releases the resources that the machine's phase does not need, and the machine itself if it is idle.
    func tidy(_ entry: LiveDownload) {
        // The remaining actions may need these resources.
        guard runner.interruption(of: entry.id) == nil else { return }
        let activity = entry.machine.activity
        busyCounts.note(entry, isBusy: activity.contains(.busy), isFinishing: activity.contains(.finishing))
        if entry.hasReservation, !activity.contains(.takingRoom) { releaseRoom(of: entry) }
        if activity.contains(.busy) { return }
        if isShuttingDown, busyCounts.busy == 0 { busyCounts.idle?.set(()) }
        if let hasher = entry.resources?.hasher, !activity.contains(.usingFile), entry.machine.record.download.state.isLive {
            hasher.rest()
            // Verification, verified file and publication would keep the part file open.
            entry.resources = nil
            resources(entry).hasher = hasher
        } else if !activity.contains(.usingFile) {
            entry.resources = nil
        }
        guard entry.pins == 0, !runner.hasWork(for: entry.id), !isBeingRead(entry.id), coordination.release(entry, in: self)
        else { return }
        if let changeID = entry.reservedEventID { publisher.abandon(changeID) }
        let id = entry.id
        guard entries[id] === entry else { return }
        entries[id] = nil
    }

    /// Removes the part file without bytes of a download that is released afterwards.
    func discardPart(of entry: LiveDownload) {
        entry.membership.mayHavePart = false
        entry.resources = nil
        runner.insert(.discardPart, for: entry.id)
        run()
    }

    // MARK: - Actions

    private func perform(_ action: DownloadMachine.Action, _ entry: LiveDownload) {
        let id = entry.id
        switch action {
        case .enqueue:
            entry.queuedAt = .now
            if quota.isLimited, !entry.machine.bytes.written.ranges.isEmpty { gate.noteQueued(id) }
            coordination.enqueue(entry, in: self)
        case .enqueueWithRoom(let bytes, let folder):
            entry.queuedAt = .now
            gate.roomWaits.add(id, needing: bytes, in: folder)
            if bytes == 0, folder.isEmpty { gate.isDiskLow = true }
            watchRoom()
        case .leaveQueue:
            queue.remove(id)
            gate.roomWaits.remove(id)
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
        case .stop: entry.resources?.attempt?.cancel()
        case .forgetTransfer:
            if busyCounts.transferring.remove(id) != nil { journal?.end(id) }
            entry.resources?.attempt?.counters.end()
            entry.resources?.attempt = nil
        case .forgetBytes:
            entry.resources?.part = nil
            entry.resources?.hasher = nil
            entry.resources?.verified = nil
        case .flush(let operation, let written, let trims): flush(operation, written, trims: trims, entry)
        case .verify(let operation, let length, let expected): verify(operation, length, expected, entry)
        case .abandonVerification: entry.resources?.verification?.abandon()
        case .publish(let operation, let path): publish(operation, path, entry)
        case .withdraw(let operation):
            if entry.resources?.publication?.abandon() == true { send(.withdrawn(operation), to: id) }
        case .save(let operation, let record, let messages):
            save(record, operation, changeID: entry.eventID, announcing: messages)
        case .saveCompletion(let operation, let record, let messages):
            let changeID = publisher.reserve()
            entry.reservedEventID = changeID
            save(record, operation, changeID: changeID, announcing: messages)
            if isShared { coordination.publish(record.download, of: entry, in: self) }
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
        case .publishRemoval:
            noteStrayBytes { $0.noteRemovedRecord(entry.machine.record.download.finishedBytes) }
            if !isShared { publisher.remove(id, changeID: entry.reservedEventID ?? publisher.reserve()) }
            entry.reservedEventID = nil
            names.release(id)
            let download = entry.machine.record.download
            if download.state == .completed, let path = download.path { names.forget(path, of: id) }
        case .assignName(let path):
            names.release(id)
            if let earlier = names.publish(path, by: id) { noteLoss(of: path, earlier) }
        case .reserveFolder(let folder): names.reserve(folder: folder, for: id)
        case .restoreName(let path): names.restore(path.name, in: path.folder, for: id)
        case .releaseName: names.release(id)
        case .query(let query):
            entry.machine.handle(.fact(find(query, for: entry)), &context)
            runner.add(&context.actions)
        case .setSpeedLimit(let limit): entry.resources?.speedLimiter.setLimit(bytesPerSecond: limit)
        case .setTimer(let timer, let delay): timers.set(.machine(id, timer), at: .now + delay)
        case .cancelTimer(let timer): timers.cancel(.machine(id, timer))
        case .answer(let waiter, let result): answer(waiter, result)
        case .log(let event): if isShared, event.tellsOfRecord { runner.note(event) } else { log(event) }
        case .discardNewPart(let generation):
            remove("remove the new version of", of: entry) { [partFiles] () throws(FileError) in
                try partFiles.removePart(id, generation)
            }
        case .discardOldParts(let generation):
            remove("remove the earlier version of", of: entry) { [partFiles] () throws(FileError) in
                try partFiles.removeOtherParts(id, than: generation)
            }
        case .discardPart:
            remove("remove the partial bytes of", of: entry) { [partFiles] () throws(FileError) in
                try partFiles.removeParts(id)
            }
        case .discardFile(let file): coordination.discard(file, of: entry, in: self)
        case .removeFile(let file):
            // Another download may have a file with the same bytes.
            let isOthers = names.isAssigned(file.path, byOtherThan: id)
            remove("remove the file of", of: entry) { [finishedFiles] () throws(FileError) in
                isOthers ? RemovedFiles() : try finishedFiles.remove(file)
            }
        case .finishPublishing:
            let inbox = inbox
            interrupt(entry)
            finishedFiles.finishPublishing(id) { error in
                let result = error.map(Result.failure) ?? .success(RemovedFiles())
                inbox.yield(.removed(id, purpose: "remove the part file of", result))
            }
        }
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

    /// Adds changes to the commit of the present event or group. Outside of both, they are a commit of their own.
    /// - Parameter commit: The download and the machine's operation that the changes belong to; `nil`: none.
    func submit(
        _ change: StoreChange?, with others: [StoreChange] = [], for commit: (RecordID, DownloadMachine.Operation)? = nil
    ) {
        if let change { runner.submit(change) }
        runner.submit(others, for: commit)
        run()
    }

    private func commit(_ group: MachineRunner.ChangeGroup) {
        if group.changes.isEmpty { return group.news.forEach(log) }
        // The trusted time is saved before a record with a later time.
        noteTrustedTime()
        volume.noteSavedRecords()
        let inbox = inbox
        store.submit(group.changes, isAwaited: runner.waits.count > 0).whenDone { [log, degradation = parts.degradation] error in
            if error != .fenced { group.news.forEach(log) }
            if error != nil { degradation.withLock { $0.suspect() } }
            inbox.yield(.committed(group, error))
        }
    }

    /// Checks a finished file whose path another file has got, and records its loss.
    private func noteLoss(of path: FilePath, _ id: RecordID) {
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
            case .waitLimit: endWaits(now: now)
            case .speedSchedule: limitSpeed()
            case .pulse: observeTransfers(now: now)
            }
        }
        timers.renewAlarm()
    }
}
