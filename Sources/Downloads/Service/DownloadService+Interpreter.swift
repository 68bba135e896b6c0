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
    }

    enum TimerKey: Hashable, Sendable {
        case machine(DownloadID, DownloadMachine.Timer)
        /// The end of a command's wait for its result.
        case answer(DownloadMachine.Waiter)
        /// The earliest deadline of the requests that wait.
        case waitLimit
        /// The beginning of a minute, at which the speed limit may change.
        case speedSchedule
    }

    /// Changes of several commands that become durable together.
    struct WriteBatch {
        var changes: [StoreChange] = []
        var commits: [(DownloadID, DownloadMachine.Operation)] = []
        /// Log events about these changes. They are discarded if the database refuses the changes of a replica without a lease.
        var news: [DownloadLogEvent] = []
    }

    /// The receiver of a command's result.
    enum Asker {
        case continuation(CheckedContinuation<Result<Download, DownloadError>, Never>)
        case collector(AnswerCollector)
        case receiver((Result<Download, DownloadError>) -> Void)

        func receive(_ result: Result<Download, DownloadError>) {
            switch self {
            case .continuation(let continuation): continuation.resume(returning: result)
            case .collector(let collector): collector.add(result)
            case .receiver(let receive): receive(result)
            }
        }
    }

    /// Collects the results of all commands of one piece.
    final class AnswerCollector {
        private var results: [Result<Download, DownloadError>] = []
        private let count: Int
        private let continuation: CheckedContinuation<[Result<Download, DownloadError>], Never>

        init(expecting count: Int, _ continuation: CheckedContinuation<[Result<Download, DownloadError>], Never>) {
            self.count = count
            self.continuation = continuation
            results.reserveCapacity(count)
        }

        func add(_ result: Result<Download, DownloadError>) {
            results.append(result)
            if results.count == count { continuation.resume(returning: results) }
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
        }
    }

    func send(_ event: DownloadMachine.Event, to id: DownloadID) {
        if let entry = entries[id] { send(event, to: entry) }
    }

    /// Sends an event to a machine and carries out its actions, and then the events that these cause.
    func send(_ event: DownloadMachine.Event, to entry: LiveDownload) {
        if isHandling {
            backlog.append((entry.machine.id, event))
            return
        }
        isHandling = true
        handle(event, entry)
        handleBacklog()
    }

    private func handle(_ event: DownloadMachine.Event, _ entry: LiveDownload) {
        if entry.interrupted != nil {
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
        carryOut(effects, entry)
    }

    /// Delivers an event to the machine, with the name or the obstacle that only the service knows.
    private func deliver(_ event: DownloadMachine.Event, to entry: LiveDownload) {
        switch event {
        case .slotAcquired:
            let obstacle = names.objection(toFolder: entry.machine.record.download.folder, for: entry.machine.id)
            entry.machine.handle(.slotAcquired(obstacle: obstacle), &context)
        case .accepted(let operation, let acceptance, _):
            guard let wanted = entry.machine.wantedName(acceptance, of: operation) else { fallthrough }
            let path = names.reserve(FilePath(wanted, in: entry.machine.record.download.folder), for: entry.machine.id)
            let name = DownloadMachine.ResponseName(wanted: wanted, reserved: path.name)
            entry.machine.handle(.accepted(operation, acceptance, name: name), &context)
        default: entry.machine.handle(event, &context)
        }
    }

    /// Finds a fact that a command needs.
    private func find(_ query: DownloadMachine.Query, for entry: LiveDownload) -> DownloadMachine.Fact {
        let id = entry.machine.id
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
            if case .answer(let waiter, let result) = action, effects.removed.isPending {
                effects.late.append((waiter, result))
            } else if case .query(let query) = action {
                entry.machine.handle(.fact(find(query, for: entry)), &context)
                effects.actions += context.actions
                context.actions.removeAll(keepingCapacity: true)
            } else if case .interrupts = perform(action, entry) {
                entry.interrupted = effects
                if !entry.isBusy { busyCount += 1 }
                entry.isBusy = true
                return
            }
        }
        if effects.removed.isPending { finish(effects.removed, answering: effects.late) }
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
        _ body: @escaping @Sendable (any FileDepot) throws(FileError) -> RemovedFiles
    ) -> Course {
        blocking(.disk) { [depot] () throws(FileError) in
            try body(depot)
        } then: {
            .removed(id, purpose: purpose, $0)
        }
        return .interrupts
    }

    /// Resumes the actions that waited for the removal of a file.
    private func removed(_ id: DownloadID, _ purpose: String, _ result: Result<RemovedFiles, FileError>) {
        guard let entry = entries[id], var effects = entry.interrupted else { return }
        entry.interrupted = nil
        switch result {
        case .success(let files): effects.removed.add(files)
        case .failure(let error): log(.warning("cannot \(purpose) \(id): \(error.message)"))
        }
        isHandling = true
        carryOut(effects, entry)
        while entry.interrupted == nil, !entry.postponed.isEmpty { handle(entry.postponed.removeFirst(), entry) }
        handleBacklog()
    }

    private func handleBacklog() {
        while !backlog.isEmpty {
            let (id, event) = backlog.removeFirst()
            if let entry = entries[id] { handle(event, entry) }
        }
        isHandling = false
    }

    /// Frees the disk space of removed files, and then sends the results that wait for it.
    private func finish(
        _ removed: RemovedFiles, answering late: [(DownloadMachine.Waiter, Result<Download, DownloadError>)]
    ) {
        Task {
            await removed.finish()
            for (waiter, result) in late { self.answer(waiter, result) }
        }
    }

    /// Updates the machine's counters, so that the result of a command has what readers see.
    private func noteProgress(_ entry: LiveDownload) {
        guard entry.machine.isPlacing, let attempt = entry.work?.attempt else { return }
        let counters = attempt.counters
        entry.machine.noteProgress(
            bytesReceived: counters.received, bytesPerSecond: counters.bytesPerSecond, stalled: counters.isStalled,
            ranges: attempt.written.outline(atMost: Download.rangeLimit))
    }

    /// Whether a command's result is awaited.
    func isAwaited(_ waiter: DownloadMachine.Waiter) -> Bool { waiters[waiter] != nil }

    func answer(_ waiter: DownloadMachine.Waiter, _ result: Result<Download, DownloadError>) {
        guard let asker = waiters.removeValue(forKey: waiter) else { return }
        timers.remove(.answer(waiter))
        let result = result.map { download in
            var download = download
            download.waitingFor = index.waitingReason(of: download)
            download.position = download.position ?? index.position(of: download)
            return download
        }
        asker.receive(result)
    }

    /// Releases the resources that the machine's phase does not need, and the machine itself if it is idle.
    func tidy(_ entry: LiveDownload) {
        // The remaining actions may need these resources.
        guard entry.interrupted == nil else { return }
        let isBusy = !entry.machine.isQuiet
        let isFinishing = entry.machine.isFinishing
        if isBusy != entry.isBusy { busyCount += isBusy ? 1 : -1 }
        if isFinishing != entry.isFinishing { finishingCount += isFinishing ? 1 : -1 }
        (entry.isBusy, entry.isFinishing) = (isBusy, isFinishing)
        if entry.hasClaim, !entry.machine.takesRoom { releaseRoom(of: entry) }
        if isBusy { return }
        if isShuttingDown, busyCount == 0 { stopWaiting() }
        if let work = entry.work, entry.machine.needsNoFile {
            if let hasher = work.hasher, entry.machine.record.download.state.isLive {
                hasher.rest()
                work.part = nil
            } else {
                entry.work = nil
            }
        }
        guard entry.pins == 0, entry.postponed.isEmpty, !isBeingRead(entry.machine.id),
            coordination.release(entry, in: self)
        else { return }
        if let stamp = entry.reservedEventID { publisher.abandon(stamp) }
        let id = entry.machine.id
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
        let id = entry.machine.id
        switch action {
        case .enqueue:
            entry.queuedAt = .now
            if quota.isLimited, !entry.machine.written.ranges.isEmpty { begun.insert(id) }
            coordination.enqueue(entry, in: self)
        case .leaveQueue:
            queue.remove(id)
            begun.remove(id)
            coordination.leaveQueue(entry, in: self)
        case .rearrange: queue.rearrange(id, to: entry.machine.record.download.rank)
        case .reassign(let others):
            coordination.reposition(others, in: self)
        case .openPart(let operation, let length, let published):
            let generation = entry.machine.record.partGeneration
            blocking(.disk) { [depot] () throws(FileError) in
                if let published { return try depot.openPublished(published.path, as: published.identity) }
                return try depot.openPart(id, generation, holding: length)
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
            if entry.work?.publication?.abandon() == true { backlog.append((id, .withdrawn(operation))) }
        case .save(let operation, let record, let deliveries):
            save(record, operation, stamp: entry.eventID, announcing: deliveries)
        case .saveCompletion(let operation, let record, let deliveries):
            let stamp = publisher.reserve()
            entry.reservedEventID = stamp
            save(record, operation, stamp: stamp, announcing: deliveries)
            coordination.publishCompletion(record.download, of: entry, in: self)
        case .saveRemoval(let operation, let deliveries):
            let stamp = entry.reservedEventID ?? publisher.reserve()
            entry.reservedEventID = stamp
            submit([.remove(id, stamp: stamp)] + deliveries.map(StoreChange.keepDelivery), for: (id, operation))
        case .deliver(let deliveries): Task { [webhooks] in for delivery in deliveries { await webhooks?.post(delivery) } }
        case .abandonRemoval:
            if let stamp = entry.reservedEventID { publisher.abandon(stamp) }
            entry.reservedEventID = nil
        case .saveProgress(let progress):
            hasSavedRecords = true
            store.note(progress)
        case .show(let download): coordination.publish(download, of: entry, in: self)
        case .showRemoval:
            // A file that stays counts as unrecorded until the next count. A removed file was subtracted before.
            if fleet == nil { strayBytes += Int128(entry.machine.record.download.finishedBytes) }
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
        case .setTimer(let timer, let delay): setTimer(.machine(id, timer), at: .now + delay)
        case .cancelTimer(let timer): timers.remove(.machine(id, timer))
        case .answer(let waiter, let result): answer(waiter, result)
        case .log(let event):
            if coordination.publishesCommits, event.tellsOfRecord, group != nil { group?.news.append(event) } else { log(event) }
        case .discardNewPart(let generation):
            return remove("remove the new version of", of: id) { depot throws(FileError) in
                try depot.removePart(id, generation)
            }
        case .discardOldParts(let generation):
            return remove("remove the earlier version of", of: id) { depot throws(FileError) in
                try depot.removeOtherParts(id, than: generation)
            }
        case .discardPart:
            return remove("remove the partial bytes of", of: id) { depot throws(FileError) in try depot.removeParts(id) }
        case .discardFile(let file): return coordination.discard(file, of: id, in: self)
        case .removeFile(let path, let identity):
            names.forget(path, of: id)
            if fleet == nil { strayBytes -= Int128(identity.size) }
            return remove("remove the file of", of: id) { depot throws(FileError) in try depot.remove(path, as: identity) }
        case .finishPublishing:
            let inbox = inbox
            depot.finishPublishing(id) { error in
                let result = error.map(Result.failure) ?? .success(RemovedFiles())
                inbox.yield(.removed(id, purpose: "remove the part file of", result))
            }
            return .interrupts
        }
        return .goesOn
    }

    /// Runs work that may wait for a disk outside the actor, and sends its result to the inbox.
    private func blocking<Value: Sendable>(
        _ executor: BlockingExecutor, _ work: @escaping @Sendable () throws(FileError) -> Value,
        then message: @escaping @Sendable (Result<Value, FileError>) -> Message
    ) {
        let inbox = inbox
        executor.submit {
            let result: Result<Value, FileError>
            do throws(FileError) { result = .success(try work()) } catch { result = .failure(error) }
            inbox.yield(message(result))
        }
    }

    // MARK: - Publishing and saving

    private func save(
        _ record: DownloadRecord, _ operation: DownloadMachine.Operation, stamp: EventID, announcing deliveries: [WebhookDelivery]
    ) {
        var record = record
        record.download.stamp = stamp
        submit([.save(record)] + deliveries.map(StoreChange.keepDelivery), for: (record.id, operation))
    }

    /// Submits changes, as part of the group if there is one.
    /// - Parameter commit: The download and the machine's operation that the changes belong to; `nil`: none.
    func submit(_ changes: [StoreChange], for commit: (DownloadID, DownloadMachine.Operation)? = nil) {
        let isAlone = group == nil
        if isAlone { group = WriteBatch() }
        group?.changes += changes
        if let commit { group?.commits.append(commit) }
        if isAlone { submitGroup() }
    }

    /// Submits the changes of the group as one commit.
    func submitGroup() {
        guard let batch = group else { return }
        group = nil
        if batch.changes.isEmpty { return batch.news.forEach(log) }
        // The trusted time is saved before a record with a later time.
        trustedTime()
        hasSavedRecords = true
        let inbox = inbox
        store.submit(batch.changes).whenDone { [log] error in
            if error != .fenced { batch.news.forEach(log) }
            inbox.yield(.committed(batch, error))
        }
    }

    /// Checks a finished file whose path another file has got, and records its loss.
    private func noteLoss(of path: FilePath, _ id: DownloadID) {
        guard let download = index.download(id), download.state == .completed, download.path == path, !download.fileMissing
        else { return }
        Task { _ = try? await self.currentFile(of: id) }
    }

    // MARK: - Transfers

    private func work(_ entry: LiveDownload) -> LiveDownload.Work {
        if let work = entry.work { return work }
        let work = LiveDownload.Work(speedLimit: entry.machine.record.download.speedLimit)
        entry.work = work
        return work
    }

    private func partOpened(_ id: DownloadID, _ operation: DownloadMachine.Operation, _ result: Result<PartFile, FileError>) {
        guard let entry = entries[id] else { return }
        switch result {
        case .success(let part):
            guard entry.machine.phase == .opening(operation) else { return }
            work(entry).part = part
            send(.partOpened(operation), to: entry)
        case .failure(let error):
            send(.partUnusable(operation, error.meansNoBytes ? nil : DownloadFailure(error)), to: entry)
        }
    }

    private func start(_ operation: DownloadMachine.Operation, _ ask: ResumeDecision.Ask, _ entry: LiveDownload) {
        let id = entry.machine.id
        let work = work(entry)
        if let queuedAt = entry.queuedAt { log(.started(id, waited: .now - queuedAt)) }
        entry.queuedAt = nil
        let record = entry.machine.record
        let (written, resume, hasRecordedBytes) = entry.machine.start
        let hasher = work.hasher ?? StreamingHasher(entry.machine.expectedDigests.map(\.algorithm))
        let order = TransferAttempt.Order(
            id: id, generation: operation, depot: depot,
            hasRecordedBytes: hasRecordedBytes, requestedMediaType: record.requestedMediaType,
            filename: record.download.filename ?? record.requestedFilename,
            expectation: ContentExpectation(
                mediaType: record.download.mediaType, track: record.download.track,
                filename: written.byteCount > 0 ? record.download.filename : nil),
            checksum: record.download.checksum,
            reservations: parts.reservations, quota: quota, connections: record.requestedSegments ?? settings.segments,
            sources: requests(for: entry, work), url: entry.machine.url.string,
            part: written.byteCount > 0 ? work.part : nil,
            isLastAttempt: entry.machine.isLastAttempt(context.retryPolicy))
        let inbox = inbox
        let attempt = TransferAttempt(order, client: parts.client, resume: resume, written: written, hasher: hasher) {
            inbox.yield(.report($0))
        }
        work.attempt = attempt
        entry.membership.mayHavePart = true
        work.meter = ProgressMeter()
        work.lastCheckpoint = .now
        (work.begun, work.bytesAtBeginning, work.stage) = (.now, written.byteCount, .begun)
        journal?.begin(id)
        running.insert(id)
        attempt.start(ask)
        keepPulse()
    }

    /// Returns the requests to a download's URL and its mirrors. The source that validates the present bytes comes first.
    private func requests(for entry: LiveDownload, _ work: LiveDownload.Work) -> [ClientRequest] {
        let machine = entry.machine
        let mirrors = machine.record.distrustsMirrors ? [] : machine.record.mirrors.compactMap { HTTPURL($0) }
        var urls = [machine.url] + mirrors
        if machine.start.written.byteCount > 0, let source = machine.record.entity?.source,
            let place = urls.firstIndex(where: { $0.string == source })
        {
            urls.insert(urls.remove(at: place), at: 0)
        }
        return urls.map { url in
            var request = ClientRequest(url: url)
            // The caller's fields may be secrets, so they are sent only to the origin that they were given for.
            if url.origin == machine.url.origin { request.fields = machine.record.headers.map { ($0.name, $0.value) } }
            request.guarding = parts.configuration.destinationGuard
            request.connectTimeout = parts.configuration.connectTimeout
            request.headTimeout = parts.configuration.headTimeout
            request.speedLimiters = [work.speedLimiter, speedLimiter]
            request.lowSpeedLimit = (bytesPerSecond: 1, over: parts.configuration.stallTimeout)
            return request
        }
    }

    private func receive(_ report: TransferReport) {
        guard let entry = entries[report.id] else { return }
        switch report.event {
        case .mirrorDropped(let reason): log(.mirrorDropped(report.id, reason))
        case .warning(let warning): log(.warning(warning))
        case .accepted(let acceptance, let part):
            if entry.machine.transfer == report.generation { entry.work?.part = part }
            send(.accepted(report.generation, acceptance, name: nil), to: entry)
        case .ended(let ending, let hasher):
            if entry.machine.transfer == report.generation { entry.work?.hasher = hasher }
            entry.wantedBytes = if case .awaitRoom(let total) = ending.outcome { total } else { nil }
            send(.ended(report.generation, ending), to: entry)
        }
    }

    private func flush(_ operation: DownloadMachine.Operation, _ written: Coverage, trims: Bool, _ entry: LiveDownload) {
        let id = entry.machine.id
        guard let part = entry.work?.part else {
            backlog.append((id, .flushed(operation, written, nil)))
            return
        }
        blocking(.checkpoints) { () throws(FileError) in
            if trims { part.release(allBut: written) }
            try part.synchronize()
            try part.confirm(written)
        } then: {
            .event(id, .flushed(operation, written, $0.failure))
        }
    }

    // MARK: - Finishing

    private func verify(
        _ operation: DownloadMachine.Operation, _ length: Int64, _ expected: [Checksum], _ entry: LiveDownload
    ) {
        let id = entry.machine.id
        let work = work(entry)
        guard let part = work.part else {
            backlog.append((id, .verified(operation, .failed(FileError(.missing, "the part file of \(id) is not open")))))
            return
        }
        let hasher = work.hasher ?? StreamingHasher(expected.map(\.algorithm))
        hasher.bind(to: part, holding: length)
        work.hasher = hasher
        let verification = Verification(part: part, hasher: hasher, length: length, expected: expected)
        work.verification = verification
        let inbox = inbox
        verification.outcome.whenDone { result in
            switch result {
            case .success(let file): inbox.yield(.verified(id, operation, file))
            case .failure(.abandoned): break
            case .failure(.checksum(let expected, let actual)):
                inbox.yield(.event(id, .verified(operation, .differs(expected: expected, actual: actual))))
            case .failure(.file(let error)): inbox.yield(.event(id, .verified(operation, .failed(error))))
            }
        }
        depot.begin(verification)
    }

    private func publish(_ operation: DownloadMachine.Operation, _ path: FilePath, _ entry: LiveDownload) {
        let id = entry.machine.id
        guard let file = entry.work?.verified else {
            backlog.append((id, .published(operation, .failure(FileError(.missing, "there is no verified file of \(id)")))))
            return
        }
        // A record that was not saved before a crash may lack the name.
        let isReserved = entry.machine.record.download.filename != nil
        let publication = Publication(id: id, file: file, path: isReserved ? path : names.reserve(path, for: id))
        entry.work?.publication = publication
        let inbox = inbox
        publication.outcome.whenDone { result in
            switch result {
            case .success(let file): inbox.yield(.event(id, .published(operation, .success(file))))
            case .failure(.file(let error)): inbox.yield(.event(id, .published(operation, .failure(error))))
            case .failure: break
            }
        }
        depot.begin(publication)
    }

    // MARK: - Slots

    /// The maximum number of files that are verified and published without a slot. With more, a slow disk delays new transfers.
    static let maximumFinishing = 256

    /// Adds a download to the queue of those that this service gives slots to.
    func enterQueue(_ entry: LiveDownload) {
        queue.enqueue(entry.machine.id, host: entry.machine.host, rank: entry.machine.record.download.rank)
    }

    /// Whether downloads with slots may start.
    var mayStart: Bool { gate == nil && finishingCount < Self.maximumFinishing }

    /// Gives slots to all downloads that may start.
    func schedule() {
        guard isStarted, !isShuttingDown, !isHandling, group == nil else { return }
        updateGate()
        // A download that has all its bytes releases its slot at once.
        while mayStart, let id = queue.next() {
            guard let entry = entries[id] else {
                queue.remove(id)
                continue
            }
            guard claimRoom(for: entry) else {
                // A running transfer has claimed the space first.
                queue.remove(id)
                enterQueue(entry)
                updateGate()
                break
            }
            send(.slotAcquired(obstacle: nil), to: entry)
            if quota.isLimited { updateGate() }
        }
        if gate == .quota { startBegun() }
        index.queue.set(
            QueueStatus.State(
                gate: gate, isFull: queue.isFull, fullHosts: queue.fullHosts,
                isStorageAway: depot.objects?.isStorageAway ?? false))
        coordination.requestSlots(in: self)
    }

    /// Determines whether downloads may start.
    private func updateGate() {
        let before = gate
        if isVolumeAway || volume.isAway {
            gate = .volume
        } else if isDiskLow {
            gate = .disk
        } else if quota.isFull {
            gate = .quota
        } else {
            gate = nil
        }
        if gate != before { log(.gate(gate)) }
    }

    // MARK: - The quota

    /// Claims disk space for a download that is about to start: its length if that is known, otherwise the bytes that
    /// it has. The transfer claims the length when it knows it from the response's head.
    /// - Returns: Whether the quota has room.
    private func claimRoom(for entry: LiveDownload) -> Bool {
        guard quota.isLimited else { return true }
        let download = entry.machine.record.download
        let own = entry.machine.written.byteCount
        // The length from a catalogue is not used before the origin has responded.
        let total = entry.wantedBytes ?? (download.resumable == nil ? nil : download.bytesTotal)
        entry.hasClaim = quota.claim(max(total ?? 0, own), for: entry.machine.id, having: own)
        return entry.hasClaim
    }

    /// Ends the claim of a download whose record contains all its bytes.
    private func releaseRoom(of entry: LiveDownload) {
        entry.hasClaim = false
        quota.release(entry.machine.id)
        // The bytes count as unrecorded until the next count.
        if fleet != nil { strayBytes += Int128(entry.machine.written.byteCount) }
    }

    /// Starts queued downloads that already have bytes, in queue order, if the quota is not full without these bytes.
    /// They were admitted before.
    private func startBegun() {
        guard fleet == nil, !begun.isEmpty, quota.exception == nil, finishingCount < Self.maximumFinishing else { return }
        let waiting = begun.compactMap { entries[$0] }.filter { queue.canStart($0.machine.id) }
            .sorted { $0.machine.record.download.rank < $1.machine.record.download.rank }
        for entry in waiting {
            guard quota.exception == nil else { return }
            guard claimRoom(for: entry) else { continue }
            if queue.start(entry.machine.id) { send(.slotAcquired(obstacle: nil), to: entry) } else { releaseRoom(of: entry) }
        }
    }

    // MARK: - Time

    func setTimer(_ key: TimerKey, at time: ContinuousClock.Instant) {
        timers.set(key, to: time)
        if let alarm, alarm.time <= time { return }
        setAlarm()
    }

    private func setAlarm() {
        alarm?.task.cancel()
        alarm = nil
        guard let time = timers.first?.rank else { return }
        let task = Task { [weak self] in
            do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
            await self?.alarmRang()
        }
        alarm = (task, time)
    }

    private func alarmRang() {
        let now = ContinuousClock.now
        while let (key, time) = timers.first, time <= now {
            timers.remove(key)
            switch key {
            case .machine(let id, let timer): send(.timer(timer), to: id)
            case .answer(let waiter): answer(waiter, .failure(.unconfirmed))
            case .waitLimit: endWaits(now: now)
            case .speedSchedule: limitSpeed()
            }
        }
        setAlarm()
        schedule()
    }

    /// Observes running transfers at the interval of the configuration, as long as there are any.
    private func keepPulse() {
        guard pulse == nil, !running.isEmpty else { return }
        pulse = Task { [weak self, interval = parts.configuration.pulse] in
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                guard await self?.beat() == true else { return }
            }
        }
    }

    /// Notes the stage of a transfer in the journal, in case the service crashes.
    private func noteStage(of work: LiveDownload.Work, _ entry: LiveDownload, _ received: Int64, at now: ContinuousClock.Instant)
    {
        if work.stage == .proven { return }
        let stage = CrashSuspicion.stage(running: now - work.begun, hasBytes: received > work.bytesAtBeginning)
        if stage == work.stage { return }
        work.stage = stage
        journal?.note(stage, of: entry.machine.id)
        guard stage == .proven, entry.machine.isSuspect else { return }
        coordination.noteProven(entry, in: self)
    }

    /// Measures speeds and begins checkpoints that are due.
    /// - Returns: Whether transfers are still running.
    private func beat() -> Bool {
        let now = ContinuousClock.now
        let checkpoints = CheckpointPolicy(interval: parts.configuration.checkpointInterval)
        for id in running {
            guard let entry = entries[id], let work = entry.work, let attempt = work.attempt else { continue }
            let counters = attempt.counters
            entry.machine.noteConnections(counters.connections)
            work.meter.sample(bytes: counters.received, at: now)
            attempt.sampleConnections(at: now)
            noteStage(of: work, entry, counters.received, at: now)
            counters.bytesPerSecond = work.meter.bytesPerSecond(at: now)
            // A transfer that waits for its speed limit is not stalled.
            counters.isStalled = work.meter.isStalled(at: now) && !attempt.isHeldBack
            let written = attempt.written
            let isDue = checkpoints.isDue(after: now - work.lastCheckpoint, running: running.count) {
                written.byteCount - entry.machine.record.syncedBytes
            }
            guard isDue else { continue }
            work.lastCheckpoint = now
            send(.checkpointDue(written), to: entry)
        }
        guard running.isEmpty else { return true }
        pulse = nil
        return false
    }
}

extension Result where Failure == FileError {
    /// The error; `nil`: success.
    fileprivate var failure: FileError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
