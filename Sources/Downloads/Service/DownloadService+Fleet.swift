internal import HTTPClient
internal import HTTPCore
internal import System

/// The service as a replica of a fleet. It has machines only for the downloads that it owns, and gets slots from the
/// database. Changes are published in the order of their commits in the database.
extension DownloadService {
    /// An event from the fleet's store.
    enum FleetEvent: Sendable {
        /// Downloads have changed, possibly on other replicas.
        case changed
        /// A second has passed.
        case tick
        case settingsChanged
        /// The lease is lost, and other replicas may own this replica's downloads.
        case fenced
        case letter(FleetLetter, from: Int64)
        /// The result of a request for slots.
        case turns(Result<[DownloadRecord], StoreError>, wanted: Int)
        /// Downloads whose changes could not be committed and have to be published again.
        case untold(Set<DownloadID>)
        /// Downloads that were acquired for a request that no longer waits.
        case leftOver([DownloadID])
    }

    func receive(_ event: FleetEvent) {
        switch event {
        case .changed: if hasQueued { mayHaveTurns = true }
        // The release of a queued download is not announced, and a request for slots may have failed.
        case .tick:
            if hasQueued { mayHaveTurns = true }
            rest()
            askOnceMore()
            // The announcement of changed settings may be lost, so they are also read every ten seconds.
            ticks += 1
            if ticks.isMultiple(of: 10) { Task { await self.readSettings() } }
        case .settingsChanged: Task { await self.readSettings() }
        case .fenced: wasFenced()
        case .turns(let result, let wanted): received(turns: result, wanted)
        case .untold(let ids): Task { await self.tellAgain(ids) }
        case .leftOver(let ids): letGoOfRest(ids)
        case .letter(let letter, let sender):
            for answer in letter.answers { received(answer) }
            if let run = letter.repeatedFor, run != fleet?.run { return }
            if !letter.asks.isEmpty { Task { await self.serve(letter.asks, for: sender) } }
        }
    }

    /// Publishes a download on all replicas once it is durable.
    func tell(_ download: Download, _ entry: LiveDownload) {
        // A completion has already been published with its record.
        if entry.membership.publishedRevision == download.revision { return }
        entry.membership.publishedRevision = download.revision
        fleet?.transfers.set(entry.machine.isPlacing ? entry.work?.attempt?.counters : nil, of: download.id)
        submit([.show(download)])
    }

    /// Publishes downloads again whose changes could not be committed. It waits until their machines have saved the records.
    func tellLater(_ changes: [StoreChange], after error: StoreError) {
        guard fleet != nil, error != .closed, error != .fenced else { return }
        var ids: Set<DownloadID> = []
        for change in changes {
            switch change {
            case .show(let download):
                ids.insert(download.id)
                if let entry = entries[download.id], entry.membership.publishedRevision == download.revision {
                    entry.membership.publishedRevision = nil
                }
            case .enqueue(let id), .leaveQueue(let id), .letGo(let id): ids.insert(id)
            default: break
            }
        }
        tellLater(ids)
    }

    private func tellLater(_ ids: Set<DownloadID>) {
        if ids.isEmpty { return }
        Task { [inbox] in
            try? await Task.sleep(for: DownloadMachine.firstSaveDelay)
            inbox.yield(.fleet(.untold(ids)))
        }
    }

    private func tellAgain(_ ids: Set<DownloadID>) async {
        guard !isShuttingDown, !isFenced else { return }
        let unsaved = ids.filter { entries[$0]?.machine.isUnsaved ?? false }
        tellLater(unsaved)
        // A download that was released meanwhile may be queued without being in the database's queue.
        let pins: Pins
        do throws(DownloadError) { pins = try await pin(Array(ids.subtracting(unsaved))) } catch {
            return tellLater(ids.subtracting(unsaved))
        }
        group = WriteBatch()
        for entry in pins.entries where entry.machine.phase != .removed {
            tell(entry.machine.record.download, entry)
            // A slot is the result of a committed claim, so it needs no correction.
            if entry.membership.slot == .awaited {
                submit([.enqueue(entry.machine.id)])
            } else if entry.membership.slot != .held {
                submit([.leaveQueue(entry.machine.id)])
            }
        }
        submitGroup()
        unpin(pins)
    }

    /// Releases downloads that this replica owns without a machine.
    private func letGoOfRest(_ ids: [DownloadID]) {
        for id in ids where entries[id] == nil && !isBeingRead(id) {
            if isSeekingTurns { passedOn.insert(id) }
            submit([.letGo(id)])
        }
    }

    /// Limits transfers to 1 byte/s while the database is away for long: another replica may fetch the same bytes.
    private func rest() {
        guard let fleet, isResting != (fleet.timeSinceResponse > configuration.restsAfter) else { return }
        isResting.toggle()
        limitSpeed()
        if isResting { log(.warning("the database is away, so transfers rest until it is back")) }
    }

    // MARK: - Slots

    /// Enters the queue that all replicas share.
    func joinLine(_ entry: LiveDownload) -> Course {
        entry.membership.slot = .awaited
        submit([.enqueue(entry.machine.id)])
        mayHaveTurns = true
        return .goesOn
    }

    /// Leaves the queue, or releases the slot.
    func leaveLine(_ entry: LiveDownload) {
        guard entry.membership.slot != .none else { return }
        entry.membership.slot = .none
        submit([.leaveQueue(entry.machine.id)])
        if hasQueued { mayHaveTurns = true }
    }

    /// Whether any replica has a queued download.
    private var hasQueued: Bool { index.count(of: .queued) > 0 }

    /// Requests slots again, because more may be free.
    func seekTurns() {
        mayHaveTurns = true
        schedule()
    }

    /// Requests as many slots as this replica may use.
    func askForTurns() {
        guard let fleet, mayHaveTurns, !isSeekingTurns, gate == nil, finishingCount < Self.mostFinishing,
            depot.objects?.place.isRefused != true
        else { return }
        let free = queue.limits.maxConcurrent - queue.runningCount - queue.waitingCount
        guard free > 0 else { return }
        (mayHaveTurns, isSeekingTurns) = (false, true)
        // Submitted at once, so that later releases come after the claim.
        fleet.claim(free: free, hostLimit: configuration.maxPerHost) { [inbox] in
            inbox.yield(.fleet(.turns($0, wanted: free)))
        }
    }

    private func received(turns result: Result<[DownloadRecord], StoreError>, _ wanted: Int) {
        isSeekingTurns = false
        let others = passedOn
        passedOn = []
        switch result {
        case .success(let records):
            // Slots of downloads that were released meanwhile are skipped.
            for record in records where !others.contains(record.id) { give(record) }
            if records.count == wanted || !others.isEmpty { mayHaveTurns = true }
        // The store is closing, the database is away, or the lease is lost.
        case .failure(.closed), .failure(.interrupted), .failure(.fenced): break
        case .failure(let error): log(.warning("cannot ask for turns: \(error)"))
        }
    }

    /// Starts a download that has acquired a slot for this replica.
    private func give(_ record: DownloadRecord) {
        let id = record.id
        if let entry = entries[id] {
            guard entry.membership.slot != .held else { return }
            // The download was paused or has ended meanwhile.
            guard entry.membership.slot == .awaited, !isShuttingDown else { return submit([.leaveQueue(id)]) }
            entry.membership.slot = .held
            queue.enqueue(id, host: entry.machine.host, rank: entry.machine.record.download.rank)
            return
        }
        guard !isShuttingDown, let url = HTTPURL(record.download.url) else { return submit([.letGo(id)]) }
        let entry = LiveDownload(DownloadMachine(record, url: url, written: Coverage(record.segments)))
        entry.membership.slot = .held
        entries[id] = entry
        send(.admitted, to: entry)
    }

    // MARK: - Ownership

    /// Whether another replica could continue the download as well as this one. No work is under way, no bytes are
    /// here, and no failed attempts are counted here.
    func canLetGo(_ entry: LiveDownload) -> Bool {
        // At the end of the service, ``leaveFleet()`` releases all downloads together.
        guard !isShuttingDown, entry.machine.rests, entry.membership.slot != .held, !entry.machine.countsFailures else {
            return false
        }
        let record = entry.machine.record
        return record.segments.isEmpty && entry.machine.written.ranges.isEmpty
    }

    /// Whether the part file of an attempt without bytes has to be removed before another replica continues the download.
    func leavesEmptyPart(_ entry: LiveDownload) -> Bool {
        let machine = entry.machine
        guard fleet != nil, machine.phase != .removed, machine.record.segments.isEmpty, machine.written.ranges.isEmpty else {
            return false
        }
        return machine.record.download.state != .completed && machine.record.download.state != .cancelled
    }

    /// Releases a download whose machine has been removed, unless it has bytes here.
    func letGo(_ entry: LiveDownload) {
        let record = entry.machine.record
        fleet?.transfers.set(nil, of: record.id)
        guard entry.machine.phase != .removed, record.segments.isEmpty, !isShuttingDown else { return }
        letGoOfRest([record.id])
    }

    /// Releases this replica's downloads at the end of the service: those without bytes here, or all if configured.
    func leaveFleet() async {
        guard let fleet else { return }
        do throws(StoreError) {
            try await fleet.retire(leaving: configuration.leavesFleet)
        } catch {
            if error != .fenced { log(.warning("others wait for this replica's lease to end: \(error)")) }
        }
    }

    /// Stops all transfers after the loss of the lease: other replicas may own the downloads.
    private func wasFenced() {
        guard !isFenced else { return }
        isFenced = true
        for entry in entries.values { entry.work?.attempt?.cancel() }
        log(.fenced)
        // Other replicas deliver the webhook messages of these downloads.
        Task { [webhooks] in await webhooks?.stop() }
    }

    /// Begins to remove the object of a file that the database has refused to record.
    func discard(_ file: PublishedFile, of id: DownloadID) -> Course {
        Task {
            await self.removeUnrecorded(file, of: id)
            self.inbox.yield(.removed(id, purpose: "discard the file of", .success(RemovedFiles())))
        }
        return .interrupts
    }

    /// Removes the object of a file unless a record names it: a commit may have succeeded before the lease was lost.
    func removeUnrecorded(_ file: PublishedFile, of id: DownloadID) async {
        guard let fleet, let objects = depot.objects, let key = file.identity.flatMap({ ObjectKey(id, $0) }) else { return }
        do throws(StoreError) {
            if try await fleet.unnamed([key.description]).isEmpty { return }
            await objects.discard(key)
            log(.discarded(id))
        } catch {
            log(.warning("the file of \(id) stays in the storage until it is swept: \(error)"))
        }
    }

    // MARK: - Commands for downloads that others own

    /// A command for another replica's download, and the wait for its result.
    struct Asked {
        let waiter: DownloadMachine.Waiter
        let id: DownloadID
        let request: DownloadMachine.Command.Request
        let isExpected: (@Sendable (Download) -> Bool)?
        let deadline: ContinuousClock.Instant
        /// The instance that the remote command was sent to.
        var owner: Int64 = 0
        var ask: FleetLetter.Ask?
        /// Whether the remote command may have been sent less than a second ago.
        var isNew = true
        /// The number of replies so far from replicas that did nothing.
        var misses = 0
    }

    /// The number of misses without a pause. A pause follows each further miss.
    private static let quickMisses = 5
    private static let missPause: Duration = .milliseconds(200)

    /// Sends a command to the owner of a download; without an owner, there is no such download.
    func pass(
        _ request: DownloadMachine.Command.Request, of id: DownloadID, by owner: Int64?, to asker: Asker,
        if isExpected: (@Sendable (Download) -> Bool)?, until deadline: ContinuousClock.Instant
    ) {
        guard let owner else { return asker.receive(.failure(.notFound)) }
        let waiter = wait(with: asker, by: deadline)
        post(Asked(waiter: waiter, id: id, request: request, isExpected: isExpected, deadline: deadline), to: owner)
    }

    /// Sends a remote command under a new number, so that a late reply to an earlier one is ignored.
    private func post(_ question: Asked, to owner: Int64) {
        guard let download = index.download(question.id) else { return answer(question.waiter, .failure(.notFound)) }
        guard question.isExpected?(download) ?? true else { return answer(question.waiter, .failure(.preconditionFailed)) }
        lastWaiter += 1
        let ask = FleetLetter.Ask(
            number: lastWaiter, id: question.id, request: question.request,
            revision: question.isExpected.map { _ in download.revision })
        var question = question
        (question.owner, question.ask, question.isNew) = (owner, ask, true)
        asked[ask.number] = question
        letters[owner, default: FleetLetter()].asks.append(ask)
    }

    /// Sends the collected remote commands, in one message for each owner.
    func sendLetters() {
        if letters.isEmpty { return }
        for (run, letter) in letters { submit([.send(letter.text, to: run)]) }
        letters = [:]
    }

    /// Sends remote commands again, under their numbers, after a second without a reply: either may have been lost.
    private func askOnceMore() {
        var letters: [Int64: FleetLetter] = [:]
        for (number, question) in asked {
            if waiters[question.waiter] == nil {
                asked[number] = nil
            } else if question.isNew {
                asked[number]?.isNew = false
            } else if let ask = question.ask {
                letters[question.owner, default: FleetLetter(repeatedFor: question.owner)].asks.append(ask)
            }
        }
        for (run, letter) in letters { submit([.send(letter.text, to: run)]) }
    }

    private func received(_ answer: FleetLetter.Answer) {
        guard let question = asked.removeValue(forKey: answer.number) else { return }
        switch answer.result {
        // The other replica has done nothing.
        case nil, .failure(.overloaded): Task { await self.askAgain(question, pauses: answer.result != nil) }
        case let result?: self.answer(question.waiter, result)
        }
    }

    /// Finds the owner of the download again, and sends the command there or carries it out here.
    private func askAgain(_ question: Asked, pauses: Bool) async {
        var question = question
        question.misses += 1
        if pauses || question.misses > Self.quickMisses { try? await Task.sleep(for: Self.missPause) }
        let waiter = question.waiter
        guard waiters[waiter] != nil else { return }
        let pins: Pins
        do throws(DownloadError) {
            pins = try await pin([question.id], by: question.deadline)
        } catch {
            return answer(waiter, .failure(error))
        }
        defer { unpin(pins) }
        guard waiters[waiter] != nil else { return }
        if let entry = entries[question.id] {
            send(.command(command(question.request, of: question.id, waiter, if: question.isExpected)), to: entry)
            schedule()
        } else if let owner = pins.owners[question.id] {
            post(question, to: owner)
            sendLetters()
        } else {
            answer(waiter, .failure(.notFound))
        }
    }

    /// Carries out the remote commands of another replica, and sends the replies.
    private func serve(_ letter: [FleetLetter.Ask], for sender: Int64) async {
        var others = FleetLetter()
        var asks: [FleetLetter.Ask] = []
        for ask in letter {
            switch served.take(ask.number, from: sender) {
            case .new: asks.append(ask)
            case .taken: break
            case .answered(let answer): others.answers.append(answer)
            }
        }
        var pins = Pins()
        var refusal: DownloadError?
        do throws(DownloadError) { pins = try await pin(asks.map(\.id)) } catch { refusal = error }
        defer { unpin(pins) }
        group = WriteBatch()
        for ask in asks {
            if let entry = entries[ask.id] {
                let waiter = wait(with: .letter(from: sender, ask.number, store))
                let isExpected = ask.revision.map { revision in
                    { @Sendable (download: Download) in download.revision == revision }
                }
                send(.command(command(ask.request, of: ask.id, waiter, if: isExpected)), to: entry)
            } else {
                let result: Result<Download, DownloadError>? =
                    if let refusal { .failure(refusal) } else { pins.owners[ask.id] == nil ? .failure(.notFound) : nil }
                let answer = FleetLetter.Answer(number: ask.number, result: result)
                served.keep(answer, to: sender)
                others.answers.append(answer)
            }
        }
        if !others.isEmpty { submit([.send(others.text, to: sender)]) }
        submitGroup()
        schedule()
    }

    /// Gives other downloads new arrivals, to make room in the queue. Downloads of other replicas keep their arrivals.
    func reassign(_ others: [QueuePlacement.Other]) -> Course {
        let strangers = others.filter { entries[$0.id] == nil }
        for other in others where entries[other.id] != nil { backlog.append((other.id, .reassigned(other.arrival))) }
        if strangers.isEmpty { return .goesOn }
        Task {
            guard let pins = try? await self.pin(strangers.map(\.id)) else { return }
            for other in strangers { self.send(.reassigned(other.arrival), to: other.id) }
            self.unpin(pins)
        }
        return .goesOn
    }

    // MARK: - Settings

    private func readSettings() async {
        settingsReads += 1
        let read = settingsReads
        // The settings may have been changed here or read again meanwhile.
        guard let fleet, let kept = try? await fleet.settings(), read == settingsReads else { return }
        hold(settings: kept)
    }

    /// Changes the fleet's settings, also if other replicas change them at the same time.
    /// - Throws: `preconditionFailed`, `overloaded` (the settings keep changing), `storeFailed`.
    func changeShared(
        _ changes: [String: String], if isExpected: @Sendable (ServiceSettings) -> Bool
    ) async throws(DownloadError) -> ServiceSettings {
        guard let fleet, !changes.isEmpty else { return configuration.settings }
        for _ in 0..<Self.mostLooks {
            let (isDone, kept): (Bool, [String: String])
            do throws(StoreError) { (isDone, kept) = try await fleet.change(changes, from: keptSettings) } catch {
                throw DownloadError(error)
            }
            settingsReads += 1
            hold(settings: kept)
            // The result of an earlier attempt may have been lost.
            if isDone || changes.allSatisfy({ kept[$0.key] == $0.value }) { return configuration.settings }
            guard isExpected(configuration.settings) else { throw .preconditionFailed }
        }
        throw .overloaded
    }

    private func hold(settings kept: [String: String]) {
        keptSettings = kept
        configuration.settings = configuration.settings.merged(withKept: kept, explicit: []).settings
        applySettings()
    }
}
