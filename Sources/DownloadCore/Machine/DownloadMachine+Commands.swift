internal import HTTPCore
internal import System

/// Commands, in order of arrival.
extension DownloadMachine {
    package mutating func take(_ command: Command, _ context: inout Context) {
        if isShuttingDown { return answer(command, .failure(.shuttingDown), &context) }
        commands.append(command)
        drain(&context)
    }

    package func answer(_ command: Command, _ result: Result<Download, DownloadError>, _ context: inout Context) {
        context.actions.append(.answer(command.waiter, result))
    }

    /// Whether commands have to wait for work that is under way.
    private var isBlocked: Bool {
        switch phase {
        case .stopping, .flushing, .clearing, .completing, .removing: true
        case .publishing(_, let isWithdrawn): isWithdrawn
        case .idle, .waiting, .delayed, .opening, .transferring, .verifying, .removed: false
        }
    }

    /// Carries out the waiting commands in order, until one has to wait.
    package mutating func drain(_ context: inout Context) {
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

    mutating func supply(_ fact: Fact, _ context: inout Context) {
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
            wanted.apply(to: &download, usual: context.retryPolicy)
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
            if state == .completed || bytes.publishedName != nil, let part = wanted.partBeforeCompletion {
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
        change.url.map { $0.string != record.download.url || !change.headers.isEmpty } ?? false
    }

    package mutating func stop(_ context: inout Context) {
        switch phase {
        case .opening:
            context.actions.append(.leaveQueue)
            phase = .idle
        case .transferring(let transfer): stop(transfer, because: .commands, &context)
        case .verifying:
            context.actions.append(.abandonVerification)
            stopped(keepsBytes: true, &context)
        case .publishing(let operation, _):
            phase = .publishing(operation, isWithdrawn: true)
            context.actions.append(.withdraw(operation))
        case .idle, .waiting, .delayed, .clearing, .stopping, .flushing, .completing, .removing, .removed: break
        }
    }

    /// Stops a transfer. If it has ended already, only the commit of its replacement is awaited.
    package mutating func stop(_ transfer: Transfer, because reason: StopReason, _ context: inout Context) {
        phase = .stopping(transfer, because: reason)
        if transfer.replacement?.ending == nil { context.actions.append(.stop) }
    }

    /// Carries out the commands that waited for the end of a transfer. A download that is still `downloading`
    /// afterwards enters the queue again.
    package mutating func workStopped(_ context: inout Context) {
        phase = .idle
        commands.requeuesAfterwards = true
        drain(&context)
    }

    private mutating func requeue(_ context: inout Context) {
        guard phase == .idle, state == .downloading else { return }
        if isShuttingDown {
            save(&context)
        } else {
            let count = written.byteCount
            change(&context) { download in
                download.state = .queued
                download.bytesReceived = count
            }
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
    private mutating func answerUnchanged(_ command: Command, _ context: inout Context) {
        if saves.add((command.waiter, shown)) { return }
        if saves.failures > 0 {
            save(answering: [(command.waiter, shown)], &context)
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
        phase = .idle
    }

    private mutating func pause(_ command: Command, _ context: inout Context) {
        switch state {
        case .paused: answerUnchanged(command, &context)
        case .completed, .failed, .cancelled: answer(command, .failure(refusal("pause")), &context)
        case .queued, .downloading, .retrying:
            leavePhase(&context)
            let count = written.byteCount
            change(&context) { download in
                download.state = .paused
                download.bytesReceived = count
            }
            save(answering: [(command.waiter, shown)], &context)
        }
    }

    private mutating func resume(_ command: Command, _ context: inout Context) {
        switch state {
        case .queued, .downloading, .retrying: answerUnchanged(command, &context)
        case .completed, .cancelled: answer(command, .failure(refusal("resume")), &context)
        case .paused, .failed:
            forgetFailures()
            let arrival = state == .failed ? newArrival(&context) : record.download.arrival
            change(&context) { download in
                download.state = .queued
                download.arrival = arrival
                download.error = nil
            }
            save(answering: [(command.waiter, shown)], &context)
            enqueue(&context)
        }
    }

    private mutating func cancel(_ command: Command, _ context: inout Context) {
        switch state {
        case .cancelled: answerUnchanged(command, &context)
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
        let mayHavePart = record.download.attempts > 0 || record.entity != nil || bytes.isCountedOn
        discardBytes(&context)
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
        let operation = save(answering: [(command.waiter, shown)], &context)
        if mayHavePart {
            phase = .clearing(operation, enqueues: next == .queued, hasMadeRoom: false)
        } else if next == .queued {
            enqueue(&context)
        }
    }

    /// Makes an arrival that is later than all others: the last position in the queue.
    private func newArrival(_ context: inout Context) -> RecordID {
        context.newIdentity(at: context.now)
    }

    /// Resets the counters of failed attempts, after a user's command.
    private mutating func forgetFailures() {
        record.transferCrashes = 0
        budget = RetryBudget(furthest: written.byteCount)
        resume = ResumeDecision()
    }

    // MARK: - Changing and removing

    package mutating func change(
        _ command: Command, _ wanted: DownloadChange, _ facts: CommandQueue.Facts, _ context: inout Context
    ) {
        let placement = facts.placement
        let relinks = isRelinking(wanted)
        let goesOn = relinks && [.queued, .downloading, .retrying].contains(state)
        if goesOn { leavePhase(&context) }
        if wanted.movesFile { move(wanted, to: facts.name, &context) }
        if relinks, let url = wanted.url { relink(to: url, headers: wanted.headers) }
        record.apply(wanted.options)
        if let others = placement?.others, !others.isEmpty { context.actions.append(.reassign(others)) }
        let (count, usual) = (written.byteCount, context.retryPolicy)
        change(&context) { download in
            wanted.apply(to: &download, usual: usual)
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
        // The result has the position of the move, even if the queue changes before the commit.
        var result = shown
        if let placement { result.position = placement.position }
        save(answering: [(command.waiter, result)], &context)
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
    /// The failures of the old origin are forgotten. Of the headers that were meant for it, only harmless ones stay.
    private mutating func relink(to url: HTTPURL, headers: RequestHeaders) {
        if url.origin != self.url.origin { record.headers = record.headers.filter(\.isHarmless) }
        record.headers = record.headers.filter { FieldName($0.name).map(headers.contains) != true } + headers
        // The source that validated these bytes will not be used again.
        let former = record.download.url
        if record.entity != nil, record.entity?.source == nil { record.entity?.source = former }
        record.announcedMirrors = []
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
        save(answering: [(command.waiter, shown)], &context)
    }

    private mutating func remove(_ command: Command, _ deletesFile: Bool, _ context: inout Context) {
        leavePhase(&context)
        let removal = Removal(waiter: command.waiter, deletesFile: deletesFile, cancellation: announceCancellation(&context))
        guard deletesFile, !record.download.fileMissing, let file = record.download.published else {
            return submitRemoval(removal, &context)
        }
        // The file is removed before the record. A crash in between leaves a record whose missing file is noticed
        // later. The reverse order would leave a file without a record.
        phase = .removing(nextOperation(), removal)
        context.actions.append(.removeFile(file))
    }

    /// Removes the record after its file. If the file cannot be reached, both stay.
    mutating func fileRemoved(_ error: FileError?, _ context: inout Context) {
        guard case .removing(_, let removal) = phase else { return }
        guard error?.kind == .away else { return submitRemoval(removal, &context) }
        phase = .idle
        context.actions.append(.answer(removal.waiter, .failure(.directoryAway)))
        if saves.failures > 0 { save(&context) }
        drain(&context)
    }

    /// Prepares the messages to webhooks about a live download, which the removal cancels.
    /// - Returns: The ids of the messages.
    private mutating func announceCancellation(_ context: inout Context) -> [RecordID] {
        guard state.isLive else { return [] }
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
        saves.beginEnd(operation)
        phase = .removing(operation, removal)
        context.actions.append(.saveRemoval(operation, announcing: saves.announcements.messages))
    }

    mutating func removalCommitted(_ removal: Removal, _ error: StoreError?, _ context: inout Context) {
        guard let error else {
            context.actions.append(.forgetBytes)
            context.actions.append(.discardPart)
            phase = .removed
            saves.forgetFailures()
            context.actions.append(.publishRemoval)
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
        saves.announcements.withdraw(removal.cancellation)
        context.actions.append(.abandonRemoval)
        context.actions.append(.answer(removal.waiter, .failure(DownloadError(error))))
        phase = .idle
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
            if removal.deletesFile || saves.failures > 0 { save(&context) }
        case .paused, .failed, .cancelled: save(&context)
        }
        drain(&context)
    }

    /// Frees the download's disk space before the removal is recorded.
    private mutating func makeRoom(_ context: inout Context) {
        if state == .completed {
            change(&context) { $0.fileMissing = true }
        } else {
            discardBytes(&context)
            dropOriginName(&context)
            bytes.isCountedOn = true
            change(&context) { _ in }
            context.actions.append(.discardPart)
        }
    }
}
