internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPCore
internal import System

/// The coordination of a replica. It has machines only for the downloads that it owns, and gets slots from the
/// database. The store publishes changes in the order of their commits in the database.
final class FleetCoordination: Coordination {
    private let fleet: FleetStore
    private let objects: ObjectFinishedFiles?
    private let log: @Sendable (DownloadLogEvent) -> Void
    private var slots = SlotRequests()
    private(set) lazy var commands = RemoteCommands(instance: fleet.instance)
    private(set) var isFenced = false
    /// The last known settings of the database, and the number of times they were read.
    private var keptSettings: [String: String] = [:]
    private var settingsReads = 0
    private var ticks = 0

    init(_ sharing: FleetSharing, log: @escaping @Sendable (DownloadLogEvent) -> Void) {
        (fleet, objects, self.log) = (sharing.fleet, sharing.objects, log)
    }

    override func receive(_ event: ReplicaEvent, in service: isolated DownloadService) {
        switch event {
        case .changed: noteFreeSlots(in: service)
        // The release of a queued download is not announced, and a request for slots may have failed.
        case .tick:
            noteFreeSlots(in: service)
            idle(in: service)
            service.submit(nil, with: commands.repetitions { service.isAwaited($0) })
            // The announcement of changed settings may be lost, so they are also read every ten seconds.
            ticks += 1
            if ticks.isMultiple(of: 10) { Task { await readSettings(in: service) } }
        case .settingsChanged: Task { await readSettings(in: service) }
        case .fenced: wasFenced(in: service)
        case .slots(let result, let requested): received(result, requested, in: service)
        case .unpublished(let ids): Task { await publishAgain(ids, in: service) }
        case .leftOver(let ids): release(ids, in: service)
        case .message(let message, let sender):
            for reply in message.replies { received(reply, in: service) }
            if let instance = message.repeatedFor, instance != fleet.instance { return }
            if !message.commands.isEmpty { Task { await serve(message.commands, for: sender, in: service) } }
        }
    }

    /// Limits transfers to 1 byte/s while the database is away for long: another replica may fetch the same bytes.
    private func idle(in service: isolated DownloadService) {
        guard isThrottled != (fleet.timeSinceResponse > service.parts.configuration.throttlesAfter) else { return }
        isThrottled.toggle()
        service.limitSpeed()
        if isThrottled { log(.warning("the database is away, so transfers are limited to 1 byte/s until it is back")) }
    }

    // MARK: - Restoring

    /// Restores the records, continues the downloads of an earlier instance on this data directory, and publishes all.
    override func restore(_ contents: StoredContents, in service: isolated DownloadService) throws(DownloadsStartError) {
        guard let found = contents.fleet else { return }
        var kept: [RecordID: UInt64?] = [:]
        var versions: [Download] = []
        versions.reserveCapacity(contents.records.count)
        var changes: [StoreChange] = []
        // A download may have been published in a later version than its saved record.
        let published = Dictionary(
            found.recent.compactMap { change in change.download.map { (change.id, $0) } }, uniquingKeysWith: { $1 })
        // The slots beyond this replica's limit are released to other replicas.
        let slots = Set(
            contents.records.lazy.filter { found.slots.contains($0.id) }.map(\.download).sorted { $0.rank < $1.rank }
                .prefix(service.settings.maxConcurrent).map(\.id))
        for id in found.slots.subtracting(slots) { changes.append(.fleet(.leaveQueue(id))) }
        for var record in contents.records {
            let id = record.id
            record.download.expiresAt = service.parts.configuration.retention.expiry(of: record.download)
            versions.append(published[id] ?? record.download)
            guard found.owned.contains(id), record.download.state != .completed, let url = HTTPURL(record.download.url) else {
                continue
            }
            var recovery = service.recovery(of: record)
            recovery.prepareSave(beyond: published[id]?.revision)
            record = recovery.record
            let isPaused = record.download.state == .paused
            if isPaused, slots.contains(id) { changes.append(.fleet(.leaveQueue(id))) }
            if !recovery.written.ranges.isEmpty { kept[id] = .some(record.partGeneration) }
            changes += [.save(record), .fleet(.publishVersion(record.download))]
            let download = LiveDownload(DownloadMachine(recovery, url: url))
            if slots.contains(id), !isPaused { download.membership.slot = .held }
            service.entries[id] = download
        }
        service.publisher.restore(versions, found, fleet.transfers)
        if !service.volume.isAway { service.tidyParts { kept[$0] == .some($1) } }
        do throws(StoreError) {
            try fleet.start(callbacks(of: service))
        } catch {
            throw DownloadsStartError(error.description)
        }
        _ = service.store.submit(changes)
    }

    private func callbacks(of service: isolated DownloadService) -> FleetStore.Callbacks {
        let (publisher, transfers, retention) = (service.publisher, fleet.transfers, service.parts.configuration.retention)
        let (inbox, webhooks) = (service.inbox, service.webhooks)
        return FleetStore.Callbacks(
            changed: { changes in
                publisher.follow(changes, transfers, retention)
                // A download that has begun releases no slot.
                if changes.contains(where: { $0.download?.state != .downloading }) { inbox.yield(.replica(.changed)) }
            },
            ticked: { inbox.yield(.replica(.tick)) },
            received: { message, sender in inbox.yield(.replica(.message(message, from: sender))) },
            adopted: { first in
                Task { await webhooks?.read(from: first) }
            },
            fenced: { inbox.yield(.replica(.fenced)) },
            leftOver: { inbox.yield(.replica(.leftOver($0))) },
            settingsChanged: { inbox.yield(.replica(.settingsChanged)) })
    }

    // MARK: - Queue

    override func enqueue(_ download: LiveDownload, in service: isolated DownloadService) {
        // The local queue has only the downloads with slots of the database.
        if download.membership.slot == .held { return service.enterQueue(download) }
        download.membership.slot = .awaited
        service.submit(.fleet(.enqueue(download.id)))
        slots.noteFreeSlots()
    }

    override func leaveQueue(_ download: LiveDownload, in service: isolated DownloadService) {
        guard download.membership.slot != .none else { return }
        download.membership.slot = .none
        service.submit(.fleet(.leaveQueue(download.id)))
        noteFreeSlots(in: service)
    }

    /// Requests slots at once, so that the downloads may acquire them in the same transaction.
    override func noteQueued(in service: isolated DownloadService) {
        slots.noteFreeSlots()
        service.schedule()
    }

    private func noteFreeSlots(in service: isolated DownloadService) {
        if service.index.count(of: .queued) > 0 { slots.noteFreeSlots() }
    }

    override func requestSlots(in service: isolated DownloadService) {
        guard service.mayStart, objects?.place.isRefused != true else { return }
        let free = service.queue.limits.maxConcurrent - service.queue.runningCount - service.queue.waitingCount
        guard slots.begin(free: free) else { return }
        // Submitted at once, so that later releases come after the request.
        fleet.requestSlots(free: free, hostLimit: service.settings.maxPerHost) { [inbox = service.inbox] in
            inbox.yield(.replica(.slots($0, requested: free)))
        }
    }

    private func received(
        _ result: Result<[DownloadRecord], StoreError>, _ requested: Int, in service: isolated DownloadService
    ) {
        switch result {
        case .success(let records):
            let released = slots.end(granted: records.count, of: requested)
            for record in records where !released.contains(record.id) { start(record, in: service) }
        case .failure(let error):
            _ = slots.end(granted: nil, of: requested)
            // The store is closing, the database is away, or the lease is lost.
            if error == .closed || error == .fenced || error.isInterruption { return }
            log(.warning("cannot request slots: \(error)"))
        }
    }

    /// Starts a download that has acquired a slot for this replica.
    private func start(_ record: DownloadRecord, in service: isolated DownloadService) {
        let id = record.id
        if let download = service.entries[id] {
            let slot = download.membership.slot
            guard slot != .held else { return }
            // The download was paused or has ended.
            guard slot == .awaited, !service.isShuttingDown else { return service.submit(.fleet(.leaveQueue(id))) }
            download.membership.slot = .held
            return service.enterQueue(download)
        }
        guard !service.isShuttingDown, let url = HTTPURL(record.download.url) else { return service.submit(.fleet(.release(id))) }
        let download = LiveDownload(DownloadMachine(record, url: url, written: Coverage(record.segments)))
        download.membership.slot = .held
        service.entries[id] = download
        service.send(.admitted, to: id)
    }

    // MARK: - Publication

    /// Publishes a download on all replicas once it is durable.
    override func publish(_ version: Download, of download: LiveDownload, in service: isolated DownloadService) {
        // A completion has already been published with its record.
        if download.membership.publishedRevision == version.revision { return }
        download.membership.publishedRevision = version.revision
        fleet.transfers.set(download.counters, of: version.id)
        service.submit(.fleet(.publishVersion(version)))
    }

    /// Publishes downloads again. It waits until their machines have saved the records.
    override func commitFailed(_ changes: [StoreChange], _ error: StoreError, in service: isolated DownloadService) {
        guard error != .closed, error != .fenced else { return }
        var ids: Set<RecordID> = []
        for change in changes {
            switch change {
            case .fleet(.publishVersion(let version)):
                ids.insert(version.id)
                let download = service.entries[version.id]
                if download?.membership.publishedRevision == version.revision { download?.membership.publishedRevision = nil }
            case .fleet(.enqueue(let id)), .fleet(.leaveQueue(let id)), .fleet(.release(let id)): ids.insert(id)
            default: break
            }
        }
        publishLater(ids, in: service)
    }

    private func publishLater(_ ids: Set<RecordID>, in service: isolated DownloadService) {
        if ids.isEmpty { return }
        Task { [inbox = service.inbox] in
            try? await Task.sleep(for: DownloadMachine.firstSaveDelay)
            inbox.yield(.replica(.unpublished(ids)))
        }
    }

    private func publishAgain(_ ids: Set<RecordID>, in service: isolated DownloadService) async {
        guard !service.isShuttingDown, !isFenced else { return }
        let unsaved = ids.filter { service.isUnsaved($0) }
        publishLater(unsaved, in: service)
        // A download that was released since may be queued without being in the database's queue.
        let pins: DownloadService.Pins
        do throws(DownloadError) { pins = try await service.pin(Array(ids.subtracting(unsaved))) } catch {
            return publishLater(ids.subtracting(unsaved), in: service)
        }
        service.runner.openGroup()
        for download in pins.entries where download.machine.phase != .removed {
            publish(download.machine.record.download, of: download, in: service)
            // A slot is the result of a committed request, so it needs no correction.
            switch download.membership.slot {
            case .awaited: service.submit(.fleet(.enqueue(download.id)))
            case .none: service.submit(.fleet(.leaveQueue(download.id)))
            case .held: break
            }
        }
        service.closeGroup()
        service.unpin(pins)
    }

    // MARK: - Ownership

    /// Whether no other replica can have changed the downloads.
    override var ownsDownloads: Bool { !isFenced && fleet.holdsLease }

    override func release(_ download: LiveDownload, in service: isolated DownloadService) -> Bool {
        guard download.machine.activity.contains(.done) || canRelease(download, in: service) else { return false }
        if download.membership.mayHavePart, mayHaveEmptyPart(download) {
            service.discardPart(of: download)
            return false
        }
        guard service.entries[download.id] === download else { return false }
        let record = download.machine.record
        fleet.transfers.set(nil, of: record.id)
        if download.machine.phase != .removed, record.segments.isEmpty, !service.isShuttingDown {
            submitRelease(of: record.id, in: service)
        }
        return true
    }

    /// Whether another replica could continue the download as well as this one. No work is under way, no bytes are
    /// here, and no failed attempts are counted here.
    private func canRelease(_ download: LiveDownload, in service: isolated DownloadService) -> Bool {
        // At the end of the service, ``leave(_:)`` releases all downloads together.
        guard !service.isShuttingDown, download.machine.activity.contains(.idle), download.membership.slot != .held else {
            return false
        }
        return !download.machine.countsFailures && hasNoBytes(download)
    }

    /// Whether an attempt may have left a part file without bytes, which would stay when another replica continues.
    private func mayHaveEmptyPart(_ download: LiveDownload) -> Bool {
        guard download.machine.phase != .removed, hasNoBytes(download) else { return false }
        let state = download.machine.record.download.state
        return state != .completed && state != .cancelled
    }

    private func hasNoBytes(_ download: LiveDownload) -> Bool {
        download.machine.record.segments.isEmpty && download.machine.bytes.written.ranges.isEmpty
    }

    /// Releases downloads that this replica owns without a machine.
    private func release(_ ids: [RecordID], in service: isolated DownloadService) {
        for id in ids where service.entries[id] == nil && !service.isBeingRead(id) { submitRelease(of: id, in: service) }
    }

    private func submitRelease(of id: RecordID, in service: isolated DownloadService) {
        slots.noteRelease(of: id)
        service.submit(.fleet(.release(id)))
    }

    /// Stops all transfers after the loss of the lease: other replicas may own the downloads.
    private func wasFenced(in service: isolated DownloadService) {
        guard !isFenced else { return }
        isFenced = true
        for download in service.entries.values { download.resources?.attempt?.cancel() }
        log(.fenced)
        // Other replicas deliver the webhook messages of these downloads.
        Task { [webhooks = service.webhooks] in await webhooks?.stop() }
    }

    override func discard(_ file: PublishedFile, of download: LiveDownload, in service: isolated DownloadService) {
        let id = download.id
        service.interrupt(download)
        Task { [inbox = service.inbox, fleet, objects, log] in
            await FleetCoordination.removeUnrecorded(file, of: id, fleet, objects, log: log)
            inbox.yield(.removed(id, purpose: "discard the file of", .success(RemovedFiles())))
        }
    }

    /// Removes the object of a file unless a record names it: a commit may have succeeded before the lease was lost.
    static func removeUnrecorded(
        _ file: PublishedFile, of id: RecordID, _ fleet: FleetStore, _ objects: ObjectFinishedFiles?,
        log: @Sendable (DownloadLogEvent) -> Void
    ) async {
        guard let objects, let key = file.identity.flatMap({ ObjectKey(id, $0) }) else { return }
        do throws(StoreError) {
            if try await fleet.unnamed([key.description]).isEmpty { return }
            await objects.discard(key)
            log(.discarded(id))
        } catch {
            log(.warning("the file of \(id) stays in the storage until it is swept: \(error)"))
        }
    }

    override func leave(_ service: isolated DownloadService) async {
        do throws(StoreError) {
            try await fleet.retire(leaving: service.parts.configuration.leavesFleet)
        } catch {
            if error != .fenced { log(.warning("others wait for this replica's lease to end: \(error)")) }
        }
    }

    // MARK: - Remote commands

    /// The pause before a command is sent again that another replica could not carry out.
    private static let missPause: Duration = .milliseconds(200)

    override func forward(_ commands: [ForwardedCommand], in service: isolated DownloadService) {
        for command in commands {
            guard let owner = command.owner else {
                command.receiver(.failure(.notFound))
                continue
            }
            let pending = RemoteCommands.PendingCommand(
                waiter: service.wait(by: command.deadline, for: command.receiver), id: command.id, request: command.request,
                isExpected: command.isExpected, deadline: command.deadline)
            send(pending, to: owner, in: service)
        }
        service.submit(nil, with: self.commands.takeMessages())
    }

    private func send(_ pending: RemoteCommands.PendingCommand, to owner: Int64, in service: isolated DownloadService) {
        guard let download = service.index.download(pending.id) else {
            return service.answer(pending.waiter, .failure(.notFound))
        }
        guard pending.isExpected?(download) ?? true else { return service.answer(pending.waiter, .failure(.preconditionFailed)) }
        commands.send(pending, to: owner, revision: pending.isExpected.map { _ in download.revision })
    }

    private func received(_ reply: RemoteMessage.Reply, in service: isolated DownloadService) {
        switch commands.receive(reply) {
        case nil: break
        case .ended(let waiter, let result): service.answer(waiter, result)
        case .missed(let pending, let pauses): Task { await sendAgain(pending, pauses: pauses, in: service) }
        }
    }

    /// Finds the owner of the download again, and sends the command there or carries it out here.
    private func sendAgain(_ pending: RemoteCommands.PendingCommand, pauses: Bool, in service: isolated DownloadService) async {
        if pauses { try? await Task.sleep(for: Self.missPause) }
        guard service.isAwaited(pending.waiter) else { return }
        let pins: DownloadService.Pins
        do throws(DownloadError) {
            pins = try await service.pin([pending.id], by: pending.deadline)
        } catch {
            return service.answer(pending.waiter, .failure(error))
        }
        defer { service.unpin(pins) }
        guard service.isAwaited(pending.waiter) else { return }
        if service.entries[pending.id] != nil {
            let command = DownloadMachine.Command(
                waiter: pending.waiter, request: pending.request, isExpected: pending.isExpected)
            service.send(.command(command), to: pending.id)
            service.schedule()
        } else if let owner = pins.owners[pending.id] {
            send(pending, to: owner, in: service)
            service.submit(nil, with: commands.takeMessages())
        } else {
            service.answer(pending.waiter, .failure(.notFound))
        }
    }

    /// Carries out the remote commands of another replica, and sends the replies.
    private func serve(
        _ received: [RemoteMessage.Command], for sender: Int64, in service: isolated DownloadService
    ) async {
        let received = commands.accept(received, from: sender)
        var pins = DownloadService.Pins()
        var refusal: DownloadError?
        do throws(DownloadError) { pins = try await service.pin(received.map(\.id)) } catch { refusal = error }
        defer { service.unpin(pins) }
        service.runner.openGroup()
        for command in received {
            if service.entries[command.id] != nil {
                let store = service.store
                let waiter = service.wait { [self] result in
                    commands.reply(result, to: command.number, from: sender)
                    _ = store.submit(commands.takeMessages())
                }
                let isExpected = command.revision.map { revision in
                    { @Sendable (download: Download) in download.revision == revision }
                }
                service.send(.command(.init(waiter: waiter, request: command.request, isExpected: isExpected)), to: command.id)
            } else if let refusal {
                commands.reply(.failure(refusal), to: command.number, from: sender)
            } else {
                let isUnknown = pins.owners[command.id] == nil
                commands.reply(isUnknown ? .failure(.notFound) : nil, to: command.number, from: sender)
            }
        }
        service.submit(nil, with: commands.takeMessages())
        service.closeGroup()
        service.schedule()
    }

    // MARK: - Settings

    private func readSettings(in service: isolated DownloadService) async {
        settingsReads += 1
        let read = settingsReads
        // During the read, the settings may have been changed here or read again.
        guard let kept = try? await fleet.read({ try $0.settings() }), read == settingsReads else { return }
        apply(kept, in: service)
    }

    /// Changes the fleet's settings, also if other replicas change them at the same time.
    /// - Throws: `preconditionFailed`, `overloaded` (the settings keep changing), `storeFailed`.
    override func change(
        _ settings: [String: String], if isExpected: @Sendable (ServiceSettings) -> Bool, in service: isolated DownloadService
    ) async throws(DownloadError) -> ServiceSettings? {
        if settings.isEmpty { return service.settings }
        for _ in 0..<DownloadService.maximumPasses {
            let (isDone, kept): (Bool, [String: String])
            do throws(StoreError) { (isDone, kept) = try await fleet.change(settings, from: keptSettings) } catch {
                throw DownloadError(error)
            }
            settingsReads += 1
            apply(kept, in: service)
            // The result of an earlier attempt may have been lost.
            if isDone || settings.allSatisfy({ kept[$0.key] == $0.value }) { return service.settings }
            guard isExpected(service.settings) else { throw .preconditionFailed }
        }
        throw .overloaded
    }

    private func apply(_ kept: [String: String], in service: isolated DownloadService) {
        keptSettings = kept
        service.settingsKeeper.adopt(kept)
        slots.noteFreeSlots()
        service.applySettings()
    }
}

/// An event from the store of a fleet.
enum ReplicaEvent: Sendable {
    /// Downloads have changed, possibly on other replicas.
    case changed
    /// A second has passed.
    case tick
    case settingsChanged
    /// The lease is lost, and other replicas may own this replica's downloads.
    case fenced
    case message(RemoteMessage, from: Int64)
    /// The result of a request for slots.
    case slots(Result<[DownloadRecord], StoreError>, requested: Int)
    /// Downloads whose changes could not be committed and have to be published again.
    case unpublished(Set<RecordID>)
    /// Downloads that were acquired for a request that no longer waits.
    case leftOver([RecordID])
}

/// A command for a download without a machine here.
struct ForwardedCommand {
    let id: RecordID
    let request: DownloadMachine.Command.Request
    /// The instance that owns the download; `nil`: there is no such download.
    let owner: Int64?
    let receiver: RequestWaits.Receiver
    /// Whether the download is still the version that the client means; `nil`: any version.
    let isExpected: (@Sendable (Download) -> Bool)?
    let deadline: ContinuousClock.Instant
}
