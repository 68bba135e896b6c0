public import HTTPClient
internal import HTTPCore
internal import ObjectStorage
internal import System

/// The downloads: takes commands, runs transfers, and has the state of each download. It is the only writer of the store.
///
/// A ``DownloadMachine`` decides what happens to its download. This actor sends events to the machines and carries out
/// their actions (`+Interpreter`). `+Adding`, `+Commands` and `+Settings` have the requests from outside.
public actor DownloadService {
    /// The published downloads. Any thread can read them without waiting for the actor.
    public nonisolated let index: SnapshotIndex
    /// The published transitions and progress, for subscribers.
    public nonisolated let events: EventHub
    /// Secret random bytes. All replicas of a fleet have the same.
    public nonisolated let secret: [UInt8]

    var configuration: DownloadsConfiguration
    let client: HTTPClient
    let store: any RecordStore
    /// The records of the fleet and the messages between replicas; `nil`: the service is not a replica.
    let fleet: FleetStore?
    let depot: any FileDepot
    /// The queue, the publication and the ownership of downloads.
    let coordination: any Coordination
    let publisher: DownloadPublisher
    let reservations = DiskReservations()
    let quota: QuotaReservations
    let probe: StoreProbe
    /// The downloads directory, which may be away.
    let volume: DownloadsVolume
    /// Whether the start has found the directory in an earlier state than the records count on.
    let isVolumeRolledBack: Bool
    /// Whether the directory is away, or is back and is being searched.
    var isVolumeAway: Bool
    /// Downloads whose records cannot be read. All their part files are kept.
    let refused: Set<DownloadID>
    let trial: PublishingTrial
    /// Enforces the speed limit over all downloads. Each download also has its own limit.
    let speedLimiter: SpeedLimiter
    /// Calls webhooks; `nil`: no webhooks are called.
    let webhooks: WebhookDispatcher?
    let log: @Sendable (DownloadLogEvent) -> Void
    let clock: ServiceClock
    /// Names the downloads in transfer, for the instance after a crash; `nil`: the file cannot be used.
    let journal: TransferJournal?
    /// Whether the store keeps the trusted time, because the wall clock is ahead of it.
    var isKeepingTrustedTime = false
    /// Whether records have been saved since the marker of the downloads directory was last advanced.
    var hasSavedRecords = false
    /// The latest time that records may contain from a clock that was not trusted.
    var timeAhead = Timestamp(millisecondsSinceEpoch: 0)

    /// Downloads that are live or have work under way.
    var entries: [DownloadID: LiveDownload] = [:]
    var queue: DownloadQueue
    /// The data that the machines receive with each event.
    var context: DownloadMachine.Context
    /// The reserved and published paths under `files`.
    var names: FileNames
    /// Events that came while another event was being handled.
    var backlog: [(DownloadID, DownloadMachine.Event)] = []
    var isHandling = false
    /// Results of work outside the actor.
    let inbox = Inbox<Message>()
    /// Changes of several commands that become durable together; `nil`: each change is submitted at once.
    var group: WriteBatch?
    /// The receivers of results of commands.
    var waiters: [DownloadMachine.Waiter: Asker] = [:]
    var lastWaiter: DownloadMachine.Waiter = 0
    /// Downloads with a transfer.
    var running: Set<DownloadID> = []
    /// The number of downloads whose files are being verified or published.
    var finishingCount = 0
    /// The number of downloads with work under way. A stopping service waits for them.
    var busyCount = 0
    var timers = IndexedHeap<TimerKey, ContinuousClock.Instant>()
    var alarm: (task: Task<Void, Never>, time: ContinuousClock.Instant)?
    var pulse: Task<Void, Never>?
    var quietWaiter: CheckedContinuation<Void, Never>?

    /// Whether less disk space is free than must stay free.
    var isDiskLow = false
    /// Bytes of finished files without a record, as of the last count; with a quota only. In a fleet: bytes of this
    /// replica's part files without a claim.
    var strayBytes: Int128 = 0 {
        didSet { quota.note(unrecorded: strayBytes) }
    }
    /// Queued downloads that already have bytes. Under a full quota, one of them may still exceed it.
    var begun: Set<DownloadID> = []
    /// The reason why no download starts; `nil`: downloads start.
    var gate: WaitingReason?
    var housekeeping: [Task<Void, Never>] = []

    /// URLs whose first download is being made durable, with the requests that wait for it: theirs may be duplicates.
    var pendingURLs: [String: [Follower]] = [:]
    /// Gids that clients have chosen for downloads that are being made durable.
    var pendingGIDs: Set<DownloadGID> = []
    /// Downloads that are being made durable and will be in the queue then; not in a fleet.
    var arriving = RankedDownloads()
    /// Arrivals that some of these downloads get once they are durable, to make room for others.
    var lateArrivals: [DownloadID: DownloadID] = [:]
    /// Records that are being read, with the requests that wait for them.
    var reading: [DownloadID: [Follower]] = [:]
    /// The outcomes of requests with a key, and the requests that are being carried out.
    var idempotency = IdempotencyStore()
    var claims: [ExactText: Claim] = [:]
    /// Whether settings are being changed, and the requests that wait for it.
    var isChangingSettings = false
    var settingsWaiters: [Follower] = []
    /// Resumes a request that waits for another one of its kind. If the other one has waited for the store in vain,
    /// both fail: one after another, they would wait without end.
    typealias Follower = @Sendable (DownloadError?) -> Void
    var waitLimits = WaitLimits()

    /// Returns the error for requests that wait for a failed one; `nil`: they go on. Nothing has been done for them.
    static func passedOn(_ error: DownloadError?) -> DownloadError? {
        error == .unconfirmed || error == .overloaded ? .overloaded : nil
    }

    var isStarted = false
    var isShuttingDown = false

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
        try await self.init(configuration: configuration, client: client, webhooks: webhooks, log: log) {
            directory throws(StoreError) in
            let options = GroupCommitOptions(committed: { log(.committed(took: $0, changes: $1)) })
            guard let database = configuration.database else {
                try directory.refuse(having: "node", "it is a replica's: give --store and --files, or another --data-dir")
                return (try GroupCommitStore(directory, options: options), nil)
            }
            try directory.refuse(having: "pawl.sqlite", "it has records of its own, which a replica does not take over")
            let writer = PostgresRecordWriter.Options(database: database, node: try directory.node(), lease: configuration.lease)
            let fleet = try FleetStore(writer, in: directory, committer: options, log: log)
            return (fleet, fleet)
        }
    }

    /// Makes the depot that the configuration requires: files in object storage or in the data directory.
    static func makeDepot(
        _ directory: DataDirectory, _ configuration: DownloadsConfiguration, _ client: HTTPClient, _ fleet: FleetStore?,
        _ contents: FleetContents?, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) -> any FileDepot {
        let local = LocalFileDepot(directory)
        guard let (location, credentials) = configuration.objects, let owner = contents?.owner else { return local }
        let storage = ObjectStorage(location, credentials: credentials, client: client)
        let place = ObjectPlace(storage, owner) { place, replacing throws(StoreError) in
            try await fleet?.keep(place: place, replacing: replacing) ?? place
        }
        return ObjectDepot(
            local, storage, place, pauses: configuration.retryDelay,
            noteGarbage: { try? await fleet?.noteGarbage($0) }, log: log)
    }

    /// Opens a service with a store and a depot of the caller's choice.
    init(
        configuration: DownloadsConfiguration, client: HTTPClient, webhooks webhookSender: (any WebhookSender)?,
        log: @escaping @Sendable (DownloadLogEvent) -> Void,
        openDepot: ((DataDirectory) -> any FileDepot)? = nil,
        openStore: (DataDirectory) throws(StoreError) -> (store: any RecordStore, fleet: FleetStore?)
    ) async throws(DownloadsStartError) {
        let depot: any FileDepot
        let contents: StoredContents
        let data: Directory
        do throws(StoreError) {
            let directory = try DataDirectory(
                path: configuration.dataDirectory, claimed: configuration.claimedDirectory,
                downloads: configuration.downloadsDirectory, permissions: configuration.filePermissions, opensDownloads: false)
            data = directory.top
            (store, fleet) = try openStore(directory)
            contents = try store.load()
            volume = DownloadsVolume(directory, known: Self.knownVolumes(contents, data), isShared: fleet != nil)
            isVolumeRolledBack = try volume.open()
            isVolumeAway = volume.isAway
            refused = Set(contents.refused.compactMap(\.id))
            for line in directory.warnings { log(.warning(line)) }
            depot = openDepot?(directory) ?? Self.makeDepot(directory, configuration, client, fleet, contents.fleet, log: log)
        } catch {
            throw DownloadsStartError(error.description)
        }
        if let problem = await depot.objects?.problem() {
            await store.close()
            throw DownloadsStartError(problem)
        }
        var configuration = configuration
        // A fleet's settings are those of its first replica until a client changes them. Later replicas change none.
        let isKept = { (name: String) in contents.fleet != nil && contents.settings[name] != nil }
        var (settings, changes) = configuration.settings.merged(
            withKept: contents.settings, explicit: configuration.explicitSettings.filter { !isKept($0.rawValue) },
            isScheduleExplicit: configuration.speedSchedule != nil && !isKept(ServiceSettings.scheduleName))
        for name in configuration.explicitSettings
        where isKept(name.rawValue) && configuration.settings[name] != settings[name] {
            log(.warning("\(name.rawValue) stays \(settings[name]), as the fleet has it; PATCH /settings changes it"))
        }
        for line in RefusedRow.lines(for: contents.refused) { log(.warning(line)) }
        configuration.settings = settings
        let isFleet = contents.fleet != nil
        clock = ServiceClock(
            configuration.clock, lastKnown: contents.lastKnownTime, probation: configuration.clockProbation)
        let (trustedTime, isOnProbation) = clock.trusted
        if !isFleet, isOnProbation { changes.append(Self.keep(trustedTime: trustedTime)) }
        isKeepingTrustedTime = !isFleet && (isOnProbation || contents.settings[StoredContents.trustedTimeName] != nil)
        for record in contents.idempotencyRecords {
            changes += idempotency.remember(record, now: trustedTime).map(StoreChange.forget)
        }
        if volume.isApart, contents.fleet == nil {
            changes.append(.set(name: KnownVolumes.settingName, value: volume.known.text))
        }
        let epoch = contents.events.nextEpoch(now: clock.now)
        if let error = await store.submit(changes + [.beginEpoch(epoch)]).failure(within: Self.answerLimit) {
            await store.close()
            guard fleet == nil, error.isInterruption else { throw DownloadsStartError(error.description) }
            throw DownloadsStartError(
                "\(configuration.dataDirectory)/pawl.sqlite cannot be written: another program holds the records")
        }
        self.configuration = configuration
        self.client = client
        self.depot = depot
        self.log = log
        var random = SystemRandom()
        secret = contents.fleet?.secret ?? (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        if let fleet {
            log(.joined(run: fleet.run))
            if let exposure = fleet.exposure { log(.warning(exposure)) }
            if fleet.mayLoseCommits {
                log(
                    .warning(
                        "the database has a standby and synchronous_standby_names is empty: if it is promoted, the last changes may be lost"
                    ))
            }
        }
        publisher =
            if let found = contents.fleet {
                DownloadPublisher(found) { [weak fleet] in fleet?.pull() }
            } else {
                DownloadPublisher(epoch: epoch, history: contents.events)
            }
        index = publisher.index
        events = publisher.hub
        // In a fleet, finished files are in object storage and part files on several replicas. No records count here.
        quota =
            if fleet == nil {
                QuotaReservations(quota: configuration.quota) { [index] in index.keptBytes(except: $0) }
            } else {
                QuotaReservations(quota: configuration.quota)
            }
        probe = StoreProbe(
            store,
            fullDirectory: { [configuration] in
                [configuration.dataDirectory, configuration.downloadsDirectory].compactMap(\.self)
                    .first { !DiskReservations.hasRoom(at: $0) }
            },
            changed: { log(.storage($0)) })
        trial = PublishingTrial(depot) { failure in
            log(.warning(failure.map { "files cannot be published: \($0.message)" } ?? "files can be published again"))
        }
        if let reason = volume.reason { log(.volume(reason)) } else { await trial.begin() }
        if let failure = volume.markerFailure {
            log(.warning("a start will not notice that the volume of the downloads directory is away: \(failure.message)"))
        }
        if isVolumeRolledBack { log(.warning(Self.rollback)) }
        speedLimiter = SpeedLimiter(bytesPerSecond: settings.speedLimit(now: clock.now))
        do throws(SystemError) {
            journal = try TransferJournal(in: data)
        } catch {
            journal = nil
            log(.warning("cannot note what is in transfer, in case of a crash: \(error)"))
        }
        webhooks = webhookSender.map { [store, journal] in
            WebhookDispatcher(sender: $0, store: store, policy: configuration.webhookPolicy, journal: journal, log: log)
        }
        coordination =
            if let fleet {
                FleetCoordination(fleet, depot: depot, log: log)
            } else {
                SoloCoordination()
            }
        queue = DownloadQueue(limits: coordination.limits(settings))
        names =
            fleet == nil
            ? FileNames(isTaken: { depot.isTaken($0) }, obstacle: { depot.obstacle(to: $0) }) : FileNames(isTaken: nil)
        context = DownloadMachine.Context(
            now: clock.now, random: SystemRandom(),
            retryPolicy: RetryPolicy(firstDelay: configuration.retryDelay.first, longestDelay: configuration.retryDelay.longest),
            retention: configuration.retention, identifiers: DownloadIDGenerator(after: contents.newestID))
        context.callsWebhooks = webhooks != nil
        isDiskLow = Self.isDiskLow(depot, configuration.minFree)
        try coordination.restore(contents, in: self)
        // The numbers of crashes are durable before anything is transferred again.
        if let error = await store.submit(entries.values.filter(\.wasInTransfer).map { .save($0.machine.record) }).failure() {
            log(.warning("cannot record what was in transfer at the crash: \(error)"))
        }
        journal?.clear()
        if fleet != nil { keepVolumes() }
        if configuration.quota > 0 { noteFinished((try? depot.finishedBytes()) ?? 0) }
        // The task ends with `shutdown`, and with the last reference to the service.
        Task { [weak self, inbox] in
            while let messages = await inbox.next() { await self?.receive(messages) }
        }
    }

    /// Lets transfers begin. Downloads that were queued or in transfer at the service's last end continue from their bytes.
    public func start() {
        guard !isStarted, !isShuttingDown else { return }
        isStarted = true
        limitSpeed()
        for id in entries.keys.sorted() { send(.admitted, to: id) }
        schedule()
        Task { [webhooks] in await webhooks?.start() }
        housekeeping = startHousekeeping()
    }

    /// Saves and ends all transfers, then closes the store. Live downloads continue at the next start.
    /// - Parameter limit: The longest wait for transfers and commits.
    public func shutdown(within limit: Duration = DownloadService.shutdownLimit) async {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        pulse?.cancel()
        for task in housekeeping { task.cancel() }
        for id in Array(entries.keys) { send(.shutdown, to: id) }
        if busyCount > 0 { await waitUntilQuiet(for: limit) }
        if let objects = depot.objects {
            let _: Void? = await result(by: .now + Self.discardingLimit) { finish in
                Task {
                    await objects.settle()
                    finish(())
                }
            }
        }
        // The marker is advanced after the last records, so that an earlier state of the directory shows.
        await noteVolume()
        alarm?.task.cancel()
        await webhooks?.stop()
        journal?.clear()
        await coordination.leave(self)
        await store.close()
        inbox.finish()
        for waiter in waiters.values { waiter.receive(.failure(.shuttingDown)) }
        waiters = [:]
    }

    private func waitUntilQuiet(for limit: Duration) async {
        let alarm = Task {
            try await Task.sleep(for: limit)
            self.stopWaiting()
        }
        await withCheckedContinuation { quietWaiter = $0 }
        alarm.cancel()
    }

    func stopWaiting() {
        quietWaiter?.resume()
        quietWaiter = nil
    }

    /// Tests the store on the disk. This takes at most about two seconds, and writes at most once a second.
    public nonisolated func storeCondition() async -> StoreCondition {
        var condition = await probe.condition()
        if depot.objects?.isStorageAway == true { condition.degraded.append(.objectsAway) }
        if volume.isAway {
            condition.degraded.append(.volumeAway)
            condition.reason = condition.reason ?? volume.reason
        } else if let failure = await trial.failure() {
            let degradation: StoreCondition.Degradation = failure.kind == .full ? .diskFull : .notWritable
            if !condition.degraded.contains(degradation) { condition.degraded.append(degradation) }
            condition.reason = condition.reason ?? failure.message
        }
        return condition
    }

    /// Logs changes of the store's condition without a request for it. To be called every few seconds.
    public nonisolated func watchStore() async {
        await probe.watch()
    }

    /// Makes a crash of this process leave a mark, so that the next instance suspects the downloads in transfer.
    /// Signals belong to the process, so only one service of a program may do this.
    public nonisolated func markCrashes() { journal?.markCrashes() }

    /// The condition of the fleet as seen by this replica; `nil`: the service is not a replica.
    public nonisolated var fleetCondition: FleetCondition? { fleet?.condition }

    /// Whether the service is a replica of a fleet. A download that another replica has added may be missing here for a moment.
    public nonisolated var isShared: Bool { fleet != nil }

    /// Waits until all changes that other replicas have committed so far are published here.
    /// - Parameter limit: The longest wait; `nil`: as long as a client would wait.
    /// - Throws: `overloaded`, `storeFailed`.
    public nonisolated func catchUp(within limit: Duration? = nil) async throws(DownloadError) {
        do throws(StoreError) {
            try await fleet?.catchUp(within: limit ?? FleetStore.patience)
        } catch {
            // Nothing has been changed yet.
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
    }

    /// The limit over all downloads at present, by the schedule or without one, in bytes per second; 0: no limit.
    public nonisolated var speedLimitInForce: Int64 { speedLimiter.bytesPerSecond }

    /// The present settings.
    public var settings: ServiceSettings { configuration.settings }

    /// The number of downloads with a machine: those that are live or have work under way.
    var machineCount: Int { entries.count }

    /// The reserved and the published paths.

    /// Whether the present state of a download could not be saved yet.
    func isUnsaved(_ id: DownloadID) -> Bool { entries[id]?.machine.isUnsaved ?? false }
}
