public import DownloadCore
public import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
public import HTTPClient
internal import HTTPCore
internal import System

/// The downloads: takes commands, runs transfers, and has the state of each download. It is the only writer of the store.
///
/// A ``DownloadMachine`` decides what happens to its download. This actor sends events to the machines and carries out
/// their actions (`Running`). The extensions in `Requests` have the requests from outside.
public actor DownloadService {
    let parts: ServiceParts

    /// The queue, the publication and the ownership of downloads.
    let coordination: Coordination
    var stage = Stage.opened
    var settingsKeeper: SettingsKeeper
    /// Decides when the store keeps the trusted time. A replica does not use it.
    var trustedTimeKeeper: TrustedTimeKeeper
    /// The requests that are being carried out.
    var ledger: RequestLedger

    /// Downloads that are live or have work under way.
    var entries: [RecordID: LiveDownload] = [:]
    var queue: SlotQueue<QueueRank>
    /// The data that the machines receive with each event.
    var context: DownloadMachine.Context
    /// The reserved and published paths under `files`.
    var names: FileNames
    /// The order of what the machines cause.
    var runner = MachineRunner()
    /// Results of work outside the actor.
    let inbox = Inbox<Message>()
    /// The numbers of downloads with work under way.
    var busyCounts = BusyCounts()
    var timers: ActorTimers

    /// Decides whether downloads may start.
    var gate: StorageGate

    /// The longest wait of a command for its result.
    static let answerLimit: Duration = .milliseconds(4_500)
    /// The longest wait of a stop for transfers and commits.
    public static let shutdownLimit: Duration = .seconds(8)
    /// The longest wait of a stop until the database has recorded the objects to remove.
    private static let discardingLimit: Duration = .seconds(1)
    /// The number of downloads in one piece of a bulk command.
    static let bulkPiece = 500

    /// Locks and opens the data directory, compares it with the records, and loads them. No transfer begins before ``start()``.
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - client: The client that runs the transfers.
    ///   - webhooks: Posts the messages to webhooks; `nil`: no webhooks are called.
    ///   - log: Receives events. It is called on any thread and must not block.
    /// - Throws: One clear line if the directory cannot be used, for instance because another process holds it.
    public init(
        configuration: DownloadsConfiguration, client: HTTPClient, webhooks: (any WebhookSender)? = nil,
        log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) async throws(DownloadsStartError) {
        try await self.init(
            try await ServiceOpening(configuration, client, webhooks, log: log) { directory throws(StoreError) in
                try ServiceOpening.openStore(in: directory, configuration, log)
            })
    }

    init(_ opening: ServiceOpening) async throws(DownloadsStartError) {
        let (contents, settings) = (opening.contents, opening.settings)
        let parts = opening.parts
        let (configuration, sharing) = (parts.configuration, parts.sharing)
        self.parts = parts
        settingsKeeper = SettingsKeeper(settings)
        trustedTimeKeeper = opening.trustedTimeKeeper
        ledger = opening.ledger
        gate = StorageGate(holdsFinishedFiles: sharing == nil, isVolumeAway: parts.volume.isAway)
        timers = ActorTimers { [inbox] in inbox.yield(.alarm) }
        coordination = sharing.map { FleetCoordination($0, log: parts.log) } ?? Coordination()
        queue = SlotQueue<QueueRank>(limits: parts.slotLimits(settings))
        let files = parts.finishedFiles
        // A file of a fleet belongs to its download, not to a directory, so that no name is taken.
        names =
            sharing == nil
            ? FileNames(isTaken: { files.isTaken($0) }, obstacle: { files.obstacle(to: $0) }) : FileNames(isTaken: nil)
        context = DownloadMachine.Context(
            now: parts.clock.now, random: SystemRandom(),
            retryPolicy: RetryPolicy(
                firstDelay: configuration.retryDelay.first, longestDelay: configuration.retryDelay.longest
            ).applying(configuration.retry),
            retention: configuration.retention, identifiers: RecordIDGenerator(after: contents.newestID))
        context.callsWebhooks = parts.webhooks != nil
        context.defaultWebhooks = DefaultWebhooks(urls: settings.webhooks, types: Set(configuration.webhookTypes))
        gate.isDiskLow = isDiskLow(try? parts.partFiles.space())
        try coordination.restore(contents, in: self)
        // The numbers of crashes are durable before anything is transferred again.
        if let error = await store.submit(entries.values.filter(\.countsCrash).map { .save($0.machine.record) }).value() {
            log(.warning("cannot record what was in transfer at the crash: \(error)"))
        }
        journal?.clear()
        if configuration.quota > 0 { noteFinished((try? finishedFiles.finishedBytes()) ?? 0) }
        // The task ends with `shutdown`, and with the last reference to the service.
        Task { [weak self, inbox] in
            while let messages = await inbox.next() {
                if let self { await self.receive(messages) } else { Self.release(messages) }
            }
        }
    }

    /// Resumes the tasks that wait in messages without a receiver.
    private static func release(_ messages: [Message]) {
        for case .settled(let continuation) in messages { continuation.resume() }
    }

    /// Lets transfers begin. Downloads that were queued or in transfer at the service's last end continue from their bytes.
    public func start() {
        guard !isStarted, !isShuttingDown else { return }
        stage = .started(housekeeping: [])
        limitSpeed()
        for id in entries.keys.sorted() { send(.admitted, to: id) }
        schedule()
        Task { [weak self, webhooks] in await webhooks?.start { [weak self] in await self?.settle() } }
        startHousekeeping()
    }

    /// Saves and ends all transfers, then closes the store. Live downloads continue at the next start.
    /// - Parameter limit: The longest wait for transfers and commits.
    public func shutdown(within limit: Duration = DownloadService.shutdownLimit) async {
        guard !isShuttingDown else { return }
        if case .started(let housekeeping) = stage { for task in housekeeping { task.cancel() } }
        stage = .stopping
        timers.cancel(.pulse)
        for id in Array(entries.keys) { send(.shutdown, to: id) }
        if busyCounts.busy > 0 {
            let idle = Outcome<Void>()
            busyCounts.idle = idle
            await idle.value(within: limit, orSetting: ())
        }
        let _: Void? = await result(by: .now + Self.discardingLimit) { finish in
            Task { [finishedFiles] in
                await finishedFiles.settle()
                finish(())
            }
        }
        // The marker is advanced after the last records, so that an earlier state of the directory shows.
        await noteVolume()
        timers.stop()
        await webhooks?.stop()
        journal?.clear()
        await coordination.leave(self)
        await store.close()
        inbox.finish()
        endWaits(with: .shuttingDown)
    }

    /// The stages of a service.
    enum Stage {
        /// The records are loaded. Requests are carried out, and no transfer begins.
        case opened
        case started(housekeeping: [Task<Void, Never>])
        /// No request is accepted, and transfers are being saved.
        case stopping
    }

    var isStarted: Bool { if case .opened = stage { false } else { true } }

    var isShuttingDown: Bool { if case .stopping = stage { true } else { false } }

    /// The published downloads. Any thread can read them without waiting for the actor.
    public nonisolated var index: SnapshotIndex { parts.publisher.index }

    /// The published transitions and progress, for subscribers.
    public nonisolated var events: EventHub { parts.publisher.hub }

    /// Secret random bytes. All replicas of a fleet have the same.
    public nonisolated var secret: [UInt8] { parts.secret }

    /// Whether finished files get the modification times of their origins, unless their downloads choose otherwise.
    public nonisolated var givesRemoteTime: Bool { parts.configuration.remoteTime }

    /// Tests the store on the disk. This takes at most about two seconds, and writes at most once a second.
    public nonisolated func storeCondition() async -> StoreCondition {
        var condition = await probe.condition()
        if finishedFiles.isStorageAway { condition.degraded.append(.objectsAway) }
        if volume.isAway {
            condition.degraded.append(.volumeAway)
            condition.reason = condition.reason ?? volume.reason
        } else if let failure = await trial.failure() {
            let degradation: StoreCondition.Degradation = failure.kind == .full ? .diskFull : .notWritable
            if !condition.degraded.contains(degradation) { condition.degraded.append(degradation) }
            condition.reason = condition.reason ?? failure.message
        }
        if parts.degradation.withLock({ $0.note(condition.degraded) }) { await announce(condition.degraded) }
        return condition
    }

    /// The number of webhook messages that are not delivered, and the age of the first one in seconds, at the last
    /// ``storeCondition()``; `nil` before it.
    public nonisolated var webhookBacklog: (count: Int64, oldestAge: Double)? {
        probe.backlog.map { backlog in
            let made = backlog.oldest?.createdAt.millisecondsSinceEpoch
            return (backlog.count, made.map { max(0, Double(Timestamp.now().millisecondsSinceEpoch - $0) / 1000) } ?? 0)
        }
    }

    /// Logs changes of the store's condition, and tells webhooks of impairments, without a request for it. Reports once
    /// that the service has to end because its records are gone. To be called every few seconds.
    public nonisolated func watchStore() async {
        // A disk that works may sleep, so it is tested only after a failure.
        let hasFailed = parts.degradation.withLock { $0.needsTest }
        let isSuspected = hasFailed || probe.isImpaired
        if let reason = await BlockingExecutor.disk.run({ [volume] in volume.recordsEnd(isSuspected: isSuspected) }) {
            return log(.recordsGone(reason))
        }
        await probe.watch()
        if hasFailed || probe.isImpaired || finishedFiles.isStorageAway || volume.isAway { _ = await storeCondition() }
    }

    /// Makes a crash of this process leave a mark, so that the next instance suspects the downloads in transfer.
    /// Signals belong to the process, so only one service of a program may do this.
    public nonisolated func markCrashes() { journal?.markCrashes() }

    /// The condition of the fleet as seen by this replica; `nil`: the service is not a replica.
    public nonisolated var fleetCondition: FleetCondition? { sharing?.fleet.condition }

    /// Whether the service is a replica of a fleet. A download that another replica has added may be missing here for a moment.
    public nonisolated var isShared: Bool { sharing != nil }

    /// Waits until all changes that other replicas have committed so far are published here.
    /// - Parameter limit: The longest wait; `nil`: as long as a client would wait.
    /// - Throws: `overloaded`, `storeFailed`.
    public nonisolated func catchUp(within limit: Duration? = nil) async throws(DownloadError) {
        do throws(StoreError) {
            try await sharing?.fleet.catchUp(within: limit ?? FleetStore.patience)
        } catch {
            // Nothing has been changed yet.
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
    }

    /// The limit over all downloads at present, by the schedule or without one, in bytes per second; 0: no limit.
    public nonisolated var speedLimitInForce: Int64 { speedLimiter.bytesPerSecond }

    /// The present settings.
    public var settings: ServiceSettings { settingsKeeper.current }

    /// The number of downloads with a machine: those that are live or have work under way.
    var machineCount: Int { entries.count }

    /// Whether the present state of a download could not be saved yet.
    func isUnsaved(_ id: RecordID) -> Bool { entries[id]?.machine.isUnsaved ?? false }
}
