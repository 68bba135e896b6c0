public import HTTPClient
internal import HTTPCore
internal import JSON
internal import ObjectStorage
public import System

/// The downloads: takes commands, runs transfers, and has the state of each download. It is the only writer of the store.
///
/// A ``DownloadMachine`` decides what happens to its download. This actor sends events to the machines and carries out
/// their actions (`+Interpreter`). This file has the requests from outside.
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
    var suspects = SuspectQueue()
    /// Whether the store keeps the trusted time, because the wall clock is ahead of it.
    var isKeepingTrustedTime = false
    /// Whether records have been saved since the marker of the downloads directory was last advanced.
    var hasSavedRecords = false
    /// The latest time that records may contain from a clock that was not trusted.
    var timeAhead = Timestamp(millisecondsSinceEpoch: 0)

    /// Downloads that are live or have work under way.
    var entries: [DownloadID: Entry] = [:]
    var queue: DownloadQueue
    /// The data that the machines receive with each event.
    var context: DownloadMachine.Context
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
    var alarm: Task<Void, Never>?
    var alarmTime: ContinuousClock.Instant?
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
    private var housekeeping: [Task<Void, Never>] = []

    /// URLs whose first download is being made durable, with the requests that wait for it: theirs may be duplicates.
    private var pendingURLs: [String: [Follower]] = [:]
    /// Gids that clients have chosen for downloads that are being made durable.
    private var pendingGIDs: Set<DownloadGID> = []
    /// Downloads that are being made durable and will be in the queue then; not in a fleet.
    private var arriving = RankedDownloads()
    /// Arrivals that some of these downloads get once they are durable, to make room for others.
    private var lateArrivals: [DownloadID: DownloadID] = [:]
    /// Records that are being read, with the requests that wait for them.
    private var reading: [DownloadID: [Follower]] = [:]
    /// The outcomes of requests with a key, and the requests that are being carried out.
    private var idempotency = IdempotencyStore()
    private var claims: [ExactText: Claim] = [:]
    /// Whether settings are being changed, and the requests that wait for it.
    private var isChangingSettings = false
    private var settingsWaiters: [Follower] = []
    /// Resumes a request that waits for another one of its kind. If the other one has waited for the store in vain,
    /// both fail: one after another, they would wait without end.
    private typealias Follower = @Sendable (DownloadError?) -> Void
    private var waitLimits = WaitLimits()

    /// Returns the error for requests that wait for a failed one; `nil`: they go on. Nothing has been done for them.
    private static func passedOn(_ error: DownloadError?) -> DownloadError? {
        error == .unconfirmed || error == .overloaded ? .overloaded : nil
    }

    var isStarted = false
    var isShuttingDown = false

    // In a fleet only:
    /// Whether a slot may be free, and whether slots are being requested.
    var mayHaveTurns = true
    var isSeekingTurns = false
    /// Downloads that were released since slots were requested.
    var passedOn: Set<DownloadID> = []
    var isFenced = false
    /// Whether transfers are limited to 1 byte/s, because the database has been away for long.
    var isResting = false
    /// The last known settings of the database, and the number of times they were read.
    var keptSettings: [String: String] = [:]
    var settingsReads = 0
    var ticks = 0
    /// The remote commands without a reply, by their numbers.
    var asked: [UInt64: Asked] = [:]
    /// The remote commands of other replicas.
    var served = ServedCommands()
    /// The remote commands to send, by their owners' instances.
    var letters: [Int64: FleetLetter] = [:]

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
            let options = GroupCommitter.Options(committed: { log(.committed(took: $0, changes: $1)) })
            guard let database = configuration.database else {
                try directory.refuse(having: "node", "it is a replica's: give --store and --files, or another --data-dir")
                return try GroupCommitStore(directory, options: options)
            }
            try directory.refuse(having: "pawl.sqlite", "it has records of its own, which a replica does not take over")
            let writer = PostgresRecordWriter.Options(database: database, node: try directory.node(), lease: configuration.lease)
            return try FleetStore(writer, in: directory, committer: options, log: log)
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
        openStore: (DataDirectory) throws(StoreError) -> any RecordStore
    ) async throws(DownloadsStartError) {
        let depot: any FileDepot
        let contents: StoredContents
        let data: Directory
        do throws(StoreError) {
            let directory = try DataDirectory(
                path: configuration.dataDirectory, claimed: configuration.claimedDirectory,
                downloads: configuration.downloadsDirectory, permissions: configuration.filePermissions, opensDownloads: false)
            data = directory.top
            store = try openStore(directory)
            fleet = store.fleet
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
        // In a fleet, the database applies the limit per host when it gives a slot.
        queue = DownloadQueue(
            limits: DownloadQueue.Limits(
                maxConcurrent: settings.maxConcurrent, maxPerHost: fleet == nil ? settings.maxPerHost : .max))
        context = DownloadMachine.Context(
            now: clock.now, random: SystemRandom(),
            names: fleet == nil
                ? FileNames(isTaken: { depot.isTaken($0) }, obstacle: { depot.obstacle(to: $0) }) : FileNames(isTaken: nil),
            retryPolicy: RetryPolicy(firstDelay: configuration.retryDelay.first, longestDelay: configuration.retryDelay.longest),
            retention: configuration.retention, identifiers: DownloadIDGenerator(after: contents.newestID))
        context.callsWebhooks = webhooks != nil
        isDiskLow = Self.isDiskLow(depot, configuration.minFree)
        if let found = contents.fleet {
            try restore(contents.records, found)
        } else {
            restore(contents.records)
        }
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
        alarm?.cancel()
        await webhooks?.stop()
        journal?.clear()
        await leaveFleet()
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
    var fileNames: FileNames { context.names }

    /// Whether the present state of a download could not be saved yet.
    func isUnsaved(_ id: DownloadID) -> Bool { entries[id]?.machine.isUnsaved ?? false }
}

// MARK: - Adding

extension DownloadService {
    /// Accepts a download. When it returns, the record and the outcome of the request's key are durable.
    /// - Parameters:
    ///   - new: The download to add.
    ///   - key: The request's key, which has been claimed; `nil`: none.
    /// - Returns: The new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if the request rejects duplicates), `gidInUse`, `invalid`,
    ///   `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen), `shuttingDown`,
    ///   `storeFailed`.
    public func add(_ new: NewDownload, key: RequestKey? = nil) async throws(DownloadError) -> Addition {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            _ = try await prepare([new], label: nil, by: deadline)
            var drafts = Drafts()
            let addition = try plan(new, &drafts)
            if try await keep(drafts, [.success(addition)], key, by: deadline) { return addition }
            // Another replica has added the URL or used the key first.
            guard let kept = try await keptElsewhere(key)?.first else { continue }
            switch kept {
            case .success(let addition): return addition
            case .failure: throw .overloaded
            }
        }
    }

    /// Accepts many downloads. When it returns, their records are durable: all of them or, if it throws, none.
    /// - Parameters:
    ///   - items: The downloads to add, or refusals of earlier checks.
    ///   - label: The label of the work that they belong to; `nil`: none. Existing downloads of the work get it as
    ///     well, and failed or cancelled ones continue. Downloads whose files are gone lose it to the new ones. This
    ///     may have been done even if the method throws.
    ///   - key: The request's key, which has been claimed; `nil`: none.
    /// - Returns: The outcome of each item, in their order.
    /// - Throws: `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen),
    ///   `shuttingDown`, `storeFailed`.
    public func add(
        _ items: [Result<NewDownload, Addition.Refusal>], label: String? = nil, key: RequestKey? = nil
    ) async throws(DownloadError) -> [Addition.Outcome] {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            let takenIn = try await prepare(items.compactMap { try? $0.get() }, label: label, by: deadline)
            var drafts = Drafts()
            drafts.takenIn = takenIn
            drafts.parts = parts(ofWork: label)
            let outcomes = plan(items, label: label, &drafts)
            if try await keep(drafts, outcomes, key, by: deadline) { return outcomes }
            if let kept = try await keptElsewhere(key) { return kept }
        }
    }

    /// Returns the outcomes that another replica has for the key, once they are published here; `nil`: there are none.
    private func keptElsewhere(_ key: RequestKey?) async throws(DownloadError) -> [Addition.Outcome]? {
        do throws(StoreError) {
            guard let fleet, let key, let record = try await fleet.idempotencyRecord(key.name) else { return nil }
            guard record.digest == key.digest else { throw StoreError.conflict }
            try await fleet.catchUp()
            return record.outcomes
        } catch {
            throw error == .conflict ? .keyMismatch : DownloadError(error)
        }
    }

    /// Waits for everything that decides whether a request is a duplicate: finished files that are examined, and the
    /// commits of first downloads of the same URLs. Prepares the existing downloads of the work with this label.
    /// - Returns: The prepared downloads. They are returned for their URLs, whatever state they have by then.
    private func prepare(
        _ requests: [NewDownload], label: String?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Set<DownloadID> {
        guard !isShuttingDown else { throw .shuttingDown }
        guard !store.isCongested else { throw .overloaded }
        let known = requests.filter { $0.onDuplicate != .new && index.hasDownload(ofURL: $0.url.string) }
        if !known.isEmpty {
            // Another replica may have removed the existing download.
            try await catchUp()
            await recogniseFiles(of: Set(known.lazy.map(\.url.string)), by: deadline)
        }
        // Done last, because another request for the same URL may arrive during any other wait.
        var takenIn: Set<DownloadID> = []
        while true {
            while let request = requests.first(where: { $0.onDuplicate != .new && pendingURLs[$0.url.string] != nil }) {
                try await follow(by: deadline) { pendingURLs[request.url.string]?.append($0) }
            }
            guard let label, try await takeIn(requests, label: label, &takenIn, by: deadline) else { break }
        }
        guard !isShuttingDown else { throw .shuttingDown }
        return takenIn
    }

    /// Finds a finished file for each URL, newest first, and records which files are missing or have returned.
    ///
    /// At most ``candidateLimit`` files are examined for each URL. A download with a missing file is no candidate any more.
    private func recogniseFiles(of urls: Set<String>, by deadline: ContinuousClock.Instant) async {
        var changes: [(DownloadMachine.Command.Request, Download)] = []
        for url in urls {
            for download in index.downloads(ofURL: url, atMost: Self.candidateLimit) {
                if download.state.isLive { break }
                guard let file = download.published else { continue }
                if hasFile(download) { break }
                do throws(FinishedFileError) {
                    let found = try await recognise(file, of: download.id)
                    if let change = noted(found, of: download) { changes.append((change, download)) }
                    if found != nil { break }
                } catch {
                    // A disk that cannot be read proves nothing.
                    continue
                }
            }
        }
        for start in stride(from: 0, to: changes.count, by: Self.bulkPiece) {
            _ = try? await ask(changes[start...].prefix(Self.bulkPiece), by: deadline)
        }
    }

    /// The maximum number of candidates for a request: of one URL, and of one part of a work.
    private static let candidateLimit = 8

    /// Adds the work's label to existing downloads and removes it from superseded ones. Failed and cancelled downloads
    /// of the work continue, with the checksum and URL of the request.
    /// - Parameter known: The prepared downloads. Further ones are added.
    /// - Returns: Whether downloads were changed, so that time has passed.
    private func takeIn(
        _ requests: [NewDownload], label: String, _ known: inout Set<DownloadID>, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var steps: [(DownloadMachine.Command.Request, Download)] = []
        var change = DownloadChange()
        change.addedLabel = label
        var removal = DownloadChange()
        removal.removedLabel = label
        let parts = parts(ofWork: label)
        for request in requests where request.onDuplicate == .returnExisting {
            let downloads = candidates(for: request, parts)
            if let current = downloads.first(where: { isCurrent($0) || known.contains($0.id) }) {
                if !current.labels.containsExactly(label), known.insert(current.id).inserted {
                    steps.append((.change(change), current))
                }
            } else if let ended = downloads.first(where: { $0.labels.containsExactly(label) }) {
                if ended.state == .completed {
                    steps.append((.change(removal), ended))
                    continue
                }
                known.insert(ended.id)
                var correction = DownloadChange()
                if let checksum = request.checksum, checksum != ended.checksum { correction.checksum = checksum }
                if request.url.string != ended.url { correction.url = request.url }
                if correction.checksum != nil || correction.url != nil { steps.append((.change(correction), ended)) }
                steps.append((ended.state == .failed ? .resume : .retry, ended))
            }
        }
        // Each machine carries out its commands in order.
        for start in stride(from: 0, to: steps.count, by: Self.bulkPiece) {
            _ = try await ask(steps[start...].prefix(Self.bulkPiece), by: deadline)
        }
        return !steps.isEmpty
    }

    /// Returns a work's downloads by their items' ids, newest first. A podcast's URLs change now and then, its ids do not.
    private func parts(ofWork label: String?) -> [[UInt8]: [Download]] {
        guard let label else { return [:] }
        var parts: [[UInt8]: [Download]] = [:]
        var query = ListQuery(label: label)
        query.limit = Self.bulkPiece
        while true {
            let page = index.page(query)
            for download in page.items {
                guard let id = Self.itemID(download.track) else { continue }
                if download.state.isLive || parts[id, default: []].count < Self.candidateLimit {
                    parts[id, default: []].append(download)
                }
            }
            guard let next = page.next else { return parts }
            query.after = next
        }
    }

    /// Returns the existing downloads for a request: those of its URL, then those of the same part of a work.
    private func candidates(for request: NewDownload, _ parts: [[UInt8]: [Download]]) -> [Download] {
        let same = index.downloads(ofURL: request.url.string, atMost: Self.candidateLimit)
        guard !parts.isEmpty, let id = Self.itemID(request.track), let others = parts[id] else { return same }
        return same + others
    }

    private static func itemID(_ track: [UInt8]?) -> [UInt8]? {
        track.flatMap { (try? JSONValue(parsing: $0))?["id"]?.string }.map { Array($0.utf8) }
    }

    /// Whether a client that requests the URL can be given this download. A completed download needs its file.
    private func isCurrent(_ download: Download) -> Bool {
        download.state.isLive || (download.state == .completed && hasFile(download))
    }

    /// A download that is about to be made.
    private struct Draft: Sendable {
        var record: DownloadRecord
        let url: HTTPURL
    }

    /// The new downloads of one request before they are durable. `first` has the first one of each URL.
    private struct Drafts: Sendable {
        var records: [Draft] = []
        var first: [String: Download] = [:]
        /// The last draft of each requested position.
        var lastPlaced: [Int: DownloadID] = [:]
        /// Downloads that get another arrival, to make room in the queue.
        var reseated: [DownloadID: QueueSeat.Other] = [:]
        var gids: Set<DownloadGID> = []
        /// Drafts that are wanted in addition to other downloads of their URLs.
        var others: Set<DownloadID> = []
        /// Existing downloads that are returned for their URLs, whatever state they have.
        var takenIn: Set<DownloadID> = []
        /// The existing downloads of the request's work, by their items' ids.
        var parts: [[UInt8]: [Download]] = [:]

        /// Returns the offset of a draft in `records`, which are in the order of their ids; `nil`: the download is no draft.
        func offset(of id: DownloadID) -> Int? {
            var (low, high) = (0, records.count)
            while low < high {
                let middle = (low + high) / 2
                if records[middle].record.id < id { low = middle + 1 } else { high = middle }
            }
            return low < records.count && records[low].record.id == id ? low : nil
        }

        /// Gives another arrival to a download in the queue.
        mutating func reseat(_ other: QueueSeat.Other) {
            if let offset = offset(of: other.id) {
                records[offset].record.download.arrival = other.arrival
            } else {
                reseated[other.id] = QueueSeat.Other(
                    id: other.id, arrival: other.arrival, former: reseated[other.id]?.former ?? other.former)
            }
        }

        /// Returns the rank of a download once the drafts are in the queue.
        func rank(of download: Download) -> QueueRank {
            offset(of: download.id).map { records[$0].record.download.rank } ?? reseated[download.id]?.rank ?? download.rank
        }
    }

    /// The queue, extended by the downloads that are being made durable and by the drafts of one request.
    private typealias DraftQueue = ExtendedQueue<ExtendedQueue<SnapshotIndex.Waiting>>

    /// The queue that drafts enter. It must be released before `arriving` changes, or that change copies the shared storage.
    private var draftQueue: DraftQueue { ExtendedQueue(ExtendedQueue(index.waiting, adding: arriving)) }

    /// Decides the outcome of a request, and drafts a new download if there is none to return.
    /// - Returns: The download with its position in the queue.
    private func plan(_ new: NewDownload, _ drafts: inout Drafts) throws(DownloadError) -> Addition {
        var queue = draftQueue
        return positioned(try plan(new, &drafts, &queue), drafts, queue)
    }

    /// Decides the outcomes of several items, and drafts the new downloads.
    /// - Returns: The downloads with their positions in the queue once all drafts are in it.
    private func plan(
        _ items: [Result<NewDownload, Addition.Refusal>], label: String?, _ drafts: inout Drafts
    ) -> [Addition.Outcome] {
        var queue = draftQueue
        let outcomes = items.map { item -> Addition.Outcome in
            switch item {
            case .failure(let refusal): return .failure(refusal)
            case .success(var new):
                if let label, !new.labels.containsExactly(label) { new.labels.append(label) }
                do throws(DownloadError) {
                    return .success(try plan(new, &drafts, &queue))
                } catch {
                    return .failure(Addition.Refusal(error))
                }
            }
        }
        return outcomes.map { $0.map { positioned($0, drafts, queue) } }
    }

    private func plan(_ new: NewDownload, _ drafts: inout Drafts, _ queue: inout DraftQueue) throws(DownloadError) -> Addition {
        try check(new.url)
        for url in new.mirrors { try check(url, role: "the mirror") }
        if let webhook = new.webhook { try check(webhook, role: "the webhook") }
        try check(filename: new.filename, folder: new.folder, of: nil)
        let url = new.url.string
        if new.onDuplicate != .new {
            var found = drafts.first[url]
            if found == nil {
                found = candidates(for: new, drafts.parts).first { isCurrent($0) || drafts.takenIn.contains($0.id) }
            }
            if let found {
                if new.onDuplicate == .reject { throw .duplicate(found.id) }
                return .existing(found)
            }
        }
        if let gid = new.gid, pendingGIDs.contains(gid) || drafts.gids.contains(gid) || index.find(gid: gid) != nil {
            throw .gidInUse(gid)
        }
        var id = newIdentity()
        while new.gid == nil, pendingGIDs.contains(id.gid) || index.isKnownGID(id.gid) { id = newIdentity() }
        var new = new
        new.filename = new.filename.map(FileNaming.normalised)
        new.folder = FileNaming.normalised(new.folder)
        var record = DownloadRecord(new, id: id, at: clock.now)
        if let path = record.download.path {
            record.download.filename = context.names.reserve(path, for: id).name
        } else if !record.download.folder.isEmpty {
            context.names.reserve(folder: record.download.folder, for: id)
        }
        record.download.stamp = publisher.reserve()
        if let position = new.position {
            // Items of one request with the same position keep their order.
            let previous = drafts.lastPlaced[position].flatMap(drafts.offset(of:)).map { drafts.records[$0].record.download.rank }
            let place = previous.map { queue.count(below: $0) + 1 } ?? position
            let seat = QueueSeat(of: id, record.download.rank, .start(place), in: queue, newest: newIdentity())
            record.download.priority = seat.rank.priority
            if seat.rank.arrival != id { record.download.arrival = seat.rank.arrival }
            for other in seat.others {
                queue.reseat(other)
                drafts.reseat(other)
            }
            drafts.lastPlaced[position] = id
        }
        queue.insert(id, record.download.rank)
        if let gid = new.gid { drafts.gids.insert(gid) }
        drafts.records.append(Draft(record: record, url: new.url))
        if new.onDuplicate == .new { drafts.others.insert(id) }
        var shown = record.download
        shown.waitingFor = index.waitingReason(of: shown)
        if drafts.first[url] == nil { drafts.first[url] = shown }
        return .created(shown)
    }

    private func newIdentity() -> DownloadID {
        context.newIdentity(at: clock.now)
    }

    /// Returns the addition with its position in the queue once all drafts are in it.
    private func positioned(_ addition: Addition, _ drafts: Drafts, _ queue: DraftQueue) -> Addition {
        var download = addition.download
        guard download.isInQueue else { return addition }
        download.position = queue.count(below: drafts.rank(of: download))
        return switch addition {
        case .created: .created(download)
        case .existing: .existing(download)
        }
    }

    /// Makes the drafts durable together with the outcomes of the request's key, and lets them begin.
    ///
    /// A commit that takes too long goes on. The downloads appear once they are durable, and the key stays claimed until then.
    /// - Returns: False if another replica has added one of the URLs or used the key first.
    private func keep(
        _ drafts: Drafts, _ outcomes: [Addition.Outcome], _ key: RequestKey?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var changes = drafts.records.map { StoreChange.add($0.record) }
        changes += remember(outcomes, as: key)
        if fleet != nil {
            for record in drafts.records.lazy.map(\.record)
            where drafts.first[record.download.url]?.id == record.id && !drafts.others.contains(record.id) {
                changes.append(.holdURL(record.id))
            }
        }
        if changes.isEmpty { return true }
        let urls = drafts.first.keys.filter { pendingURLs[$0] == nil }
        for url in urls { pendingURLs[url] = [] }
        pendingGIDs.formUnion(drafts.gids)
        if !drafts.reseated.isEmpty {
            let reseated = Array(drafts.reseated.values)
            group = WriteBatch()
            if fleet != nil { _ = reseat(reseated) }
            for other in reseated {
                if entries[other.id] == nil, arriving.remove(other.id, other.former) {
                    arriving.insert(other.id, other.rank)
                    lateArrivals[other.id] = other.arrival
                } else {
                    send(.reseated(other.arrival), to: other.id)
                }
            }
            submitGroup()
        }
        // In a fleet, the index has the downloads before this request continues.
        if fleet == nil {
            // Looked at in place, since a copy of a record retains each of its texts.
            for offset in drafts.records.indices {
                arriving.insert(drafts.records[offset].record.id, drafts.records[offset].record.download.rank)
            }
        }
        trustedTime()
        let commit = store.submit(changes)
        // The downloads may acquire slots as soon as they are durable: in a fleet, in the same transaction.
        if fleet != nil, drafts.records.contains(where: { $0.record.download.state == .queued }) { seekTurns() }
        // In a fleet, the store publishes its commits, however late.
        let limit = fleet == nil ? deadline : min(deadline, .now + FleetStore.patience)
        let outcome: StoreError?? = await self.result(by: limit) { finish in commit.whenDone(finish) }
        guard outcome == nil, fleet == nil else {
            let error = conclude(drafts, urls, key, outcome ?? .interrupted("it does not answer in time"))
            if error == .conflict {
                try await catchUp()
                return false
            }
            if let error { throw DownloadError(error) }
            return true
        }
        if let key { claims[ExactText(key.name)]?.isUnsettled = true }
        Task {
            let error = self.conclude(drafts, urls, key, await commit.failure())
            guard let key else { return }
            self.claims[ExactText(key.name)]?.isUnsettled = false
            self.release(key, after: error.map { DownloadError($0) })
        }
        throw .unconfirmed
    }

    /// Publishes the drafts, or discards them if their commit has failed.
    /// - Parameters:
    ///   - urls: The URLs for which other requests wait.
    ///   - error: The reason why the commit has failed; `nil`: the drafts are durable.
    /// - Returns: The same error.
    private func conclude(_ drafts: Drafts, _ urls: [String], _ key: RequestKey?, _ error: StoreError?) -> StoreError? {
        defer {
            pendingGIDs.subtract(drafts.gids)
            let failure = error.flatMap { $0 == .conflict ? nil : DownloadError($0) }
            for url in urls { pendingURLs.removeValue(forKey: url)?.forEach { $0(Self.passedOn(failure)) } }
        }
        if error != nil {
            for record in drafts.records.lazy.map(\.record) {
                _ = leaveArriving(record.download)
                context.names.release(record.id)
                publisher.abandon(record.download.stamp)
            }
            forget(key)
            return error
        }
        if fleet != nil {
            for draft in drafts.records { log(.transition(draft.record.download)) }
            return nil
        }
        for draft in drafts.records {
            let record = draft.record
            let entry = Entry(DownloadMachine(record, url: draft.url))
            entry.stamp = record.download.stamp
            entries[record.id] = entry
            let lateArrival = leaveArriving(record.download)
            publisher.publish(record.download, counters: nil)
            log(.transition(record.download))
            if let lateArrival { send(.reseated(lateArrival), to: entry) }
            if isStarted { send(.admitted, to: entry) }
        }
        schedule()
        return nil
    }

    /// Waits for a result until a deadline.
    /// - Parameter begin: Begins the work. Its argument receives the result.
    /// - Returns: The result; `nil` if there is none in time.
    private func result<Value: Sendable>(
        by deadline: ContinuousClock.Instant, _ begin: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        var number = 0
        let value: Value? = await withCheckedContinuation { continuation in
            let waiter = Locked<CheckedContinuation<Value?, Never>?>(continuation)
            let wait = waitLimits.add(by: deadline) { waiter.withLock { $0.take() }?.resume(returning: nil) }
            number = wait.number
            if wait.isFirst { setTimer(.waitLimit, at: deadline) }
            begin { value in waiter.withLock { $0.take() }?.resume(returning: value) }
        }
        waitLimits.remove(number)
        return value
    }

    func endWaits(now: ContinuousClock.Instant) {
        for end in waitLimits.takeExpired(now: now) { end() }
        if let next = waitLimits.next { setTimer(.waitLimit, at: next) }
    }

    /// Waits for another request.
    /// - Parameter join: Adds this request to those that wait for the other one.
    /// - Throws: `overloaded` if that takes too long, or if the other request has waited for the store in vain.
    private func follow(by deadline: ContinuousClock.Instant, _ join: (@escaping Follower) -> Void) async throws(DownloadError) {
        guard let failure: DownloadError? = await self.result(by: deadline, join) else { throw .overloaded }
        if let failure { throw failure }
    }

    /// Removes a draft from the downloads that are being made durable.
    /// - Returns: The arrival that it has got meanwhile, to make room for another download; `nil`: none.
    private func leaveArriving(_ download: Download) -> DownloadID? {
        let lateArrival = lateArrivals.isEmpty ? nil : lateArrivals.removeValue(forKey: download.id)
        var rank = download.rank
        if let lateArrival { rank.arrival = lateArrival }
        arriving.remove(download.id, rank)
        return lateArrival
    }

    /// Refuses names and folders that a file cannot have.
    /// - Parameter id: The download of the file; `nil`: a new one.
    private func check(filename: String?, folder: String?, of id: DownloadID?) throws(DownloadError) {
        if let filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        guard let folder, !folder.isEmpty else { return }
        if let objection = FileNaming.objection(toFolder: folder) { throw .invalid(objection) }
        if let objection = context.names.objection(toFolder: FileNaming.normalised(folder), for: id) { throw .invalid(objection) }
    }

    /// Refuses a destination that is forbidden, as far as that is known without a name server.
    /// - Parameter role: The role of the URL for messages; `nil`: it is the download's own URL.
    private func check(_ url: HTTPURL, role: String? = nil) throws(DownloadError) {
        if case .forbidden(let reason) = configuration.destinationGuard.evaluate(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }
}

// MARK: - Commands

extension DownloadService {
    /// Carries out a command. When it returns, the new state is durable and in effect.
    /// - Parameters:
    ///   - command: The command.
    ///   - id: The download.
    /// - Returns: The download as the command made it.
    /// - Throws: `notFound`, `illegalTransition`, `insufficientStorage`, `storeFailed`, `overloaded` (nothing was
    ///   done), `unconfirmed` (it may still happen), `shuttingDown`.
    public func perform(_ command: DownloadCommand, on id: DownloadID) async throws(DownloadError) -> Download {
        try await ask(DownloadMachine.Command.Request(command), of: id)
    }

    /// Carries out a command on all matching downloads, in pieces of limited size that each become durable together.
    /// Downloads for which the command is illegal stay as they are.
    /// - Parameters:
    ///   - command: The command.
    ///   - states: The states of matching downloads; empty: all states.
    ///   - label: The label of matching downloads; `nil`: any.
    ///   - folder: The folder of matching downloads; empty: no folder; `nil`: any.
    /// - Returns: The number of changed downloads.
    /// - Throws: `storeFailed`, `insufficientStorage`, `overloaded`, `unconfirmed`, `shuttingDown`. Some downloads may
    ///   have changed then.
    public func performOnAll(
        _ command: DownloadCommand, states: Set<DownloadState> = [], label: String? = nil, folder: String? = nil
    ) async throws(DownloadError) -> Int {
        let states = states.isEmpty ? Set(DownloadState.allCases.filter(command.changes)) : states.filter(command.changes)
        if states.isEmpty { return 0 }
        return try await inPieces(ListQuery(states: states, label: label, folder: folder)) { piece throws(DownloadError) in
            let before = Dictionary(piece.map { ($0.id, $0.state) }, uniquingKeysWith: { first, _ in first })
            let changed = try await self.ask(.init(command), ofPiece: piece)
            return changed.count { $0.state != before[$0.id] }
        }
    }

    /// Removes all matching downloads, in pieces of limited size that each become durable together. Live downloads are
    /// cancelled first.
    /// - Parameters:
    ///   - selection: The downloads to remove. A download that no longer matches when it is reached stays as it is.
    ///   - deletesFiles: Whether finished files are removed too.
    /// - Returns: The number of removed downloads.
    /// - Throws: `directoryAway`, `storeFailed`, `insufficientStorage`, `overloaded`, `unconfirmed`, `shuttingDown`.
    ///   Some downloads may have been removed then.
    public func removeAll(_ selection: ListQuery, deletingFiles deletesFiles: Bool) async throws(DownloadError) -> Int {
        try await inPieces(selection) { piece throws(DownloadError) in
            if deletesFiles {
                try self.checkFilesAreThere(piece)
                for download in piece { try await self.recogniseFile(of: download.id) }
            }
            var (left, count) = (piece, 0)
            for _ in 0..<Self.mostLooks {
                let removed = try await self.ask(.remove(deletingFile: deletesFiles), ofPiece: left, if: selection.includes).count
                count += removed
                if removed == left.count || !self.isShared { return count }
                // An owner may have refused the command because the version here was outdated. Downloads that still
                // match are removed in another pass.
                try await self.catchUp()
                left = left.compactMap { self.index.download($0.id) }.filter(selection.includes)
                if left.isEmpty { return count }
            }
            throw .overloaded
        }
    }

    /// The maximum number of attempts when downloads or settings change concurrently.
    static let mostLooks = 8

    /// Passes all matching downloads to a function, in pieces, and adds up the results.
    private func inPieces(
        _ selection: ListQuery, _ body: ([Download]) async throws(DownloadError) -> Int
    ) async throws(DownloadError) -> Int {
        try await catchUp()
        var query = selection
        query.limit = Self.bulkPiece
        query.order = .oldest
        var count = 0
        while true {
            guard !isShuttingDown else { throw .shuttingDown }
            let page = index.page(query)
            if !page.items.isEmpty { count += try await body(page.items) }
            guard let next = page.next else { return count }
            query.after = next
        }
    }

    /// Sends the same command to several downloads, and waits for all results.
    /// - Returns: The downloads that have carried it out.
    private func ask(
        _ request: DownloadMachine.Command.Request, ofPiece piece: [Download],
        if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) -> [Download] {
        try await ask(piece.map { (request, $0) }[...], if: isExpected)
    }

    /// Sends a command to each of several downloads, and waits for all results.
    /// - Returns: The downloads that have carried out theirs.
    private func ask(
        _ steps: ArraySlice<(DownloadMachine.Command.Request, Download)>,
        if isExpected: (@Sendable (Download) -> Bool)? = nil, by deadline: ContinuousClock.Instant? = nil
    ) async throws(DownloadError) -> [Download] {
        let deadline = deadline ?? .now + Self.answerLimit
        let ids = steps.map(\.1.id)
        let pins = try await pin(ids, by: deadline)
        defer { unpin(pins) }
        let results = await withCheckedContinuation { continuation in
            let collector = AnswerCollector(expecting: steps.count, continuation)
            group = WriteBatch()
            for (request, download) in steps {
                guard let entry = entries[download.id] else {
                    pass(
                        request, of: download.id, by: pins.owners[download.id], to: .collector(collector), if: isExpected,
                        until: deadline)
                    continue
                }
                let waiter = wait(with: .collector(collector), by: deadline)
                send(.command(command(request, of: download.id, waiter, if: isExpected)), to: entry)
            }
            submitGroup()
            sendLetters()
            schedule()
        }
        var done: [Download] = []
        for result in results {
            switch result {
            case .success(let download): done.append(download)
            // The download has changed or was removed before the command was carried out.
            case .failure(.illegalTransition), .failure(.notFound), .failure(.preconditionFailed): break
            case .failure(let error): throw error
            }
        }
        return done
    }

    func command(
        _ request: DownloadMachine.Command.Request, of id: DownloadID, _ waiter: DownloadMachine.Waiter,
        if isExpected: (@Sendable (Download) -> Bool)?
    ) -> DownloadMachine.Command {
        // In a fleet, readers see only durable versions. If the machine has a newer one, the client means an outdated version.
        let isCurrent: @Sendable (Download, Download) -> Bool = { [isShared = fleet != nil] in
            !isShared || $0.revision == $1.revision
        }
        return DownloadMachine.Command(
            waiter: waiter, request: request,
            isExpected: { [index] download in
                guard let isExpected else { return true }
                return index.download(id).map { isCurrent($0, download) && isExpected($0) } ?? false
            },
            seat: { [index] download, move, newest in
                QueueSeat(of: id, download.rank, move, in: index.waiting, newest: newest)
            })
    }

    /// Changes a download. When it returns, the change is durable and in effect: the queue has the new priority or
    /// position, and a transfer has the new speed limit. If the URL changes, the transfer is stopped, and continues at
    /// the new URL from the bytes that are still valid there. Mirrors and the number of connections take effect in the
    /// next attempt. A paused, failed or cancelled download stays so.
    /// - Parameters:
    ///   - id: The download.
    ///   - change: The changes.
    ///   - isExpected: Whether the download is still the version that the client means; `nil`: any version.
    /// - Returns: The download as the change made it.
    /// - Throws: `preconditionFailed`, `invalid`, `destinationForbidden`; `illegalTransition` (`url`, `mirrors`,
    ///   `segments`, `filename` or `folder` of a completed download, or `position` of one that is neither queued nor
    ///   paused); the other errors of ``perform(_:on:)``.
    public func change(
        _ id: DownloadID, _ change: DownloadChange, if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) -> Download {
        if let url = change.url { try check(url) }
        for url in change.mirrors ?? [] { try check(url, role: "the mirror") }
        try check(filename: change.filename, folder: change.folder, of: id)
        return try await ask(.change(change), of: id, if: isExpected)
    }

    /// Moves a queued or paused download to another position in the queue. When it returns, the move is durable.
    /// Between downloads of other priorities, it gets the possible priority that is nearest to its own.
    /// - Returns: The number of downloads that precede it then.
    /// - Throws: The errors of ``perform(_:on:)``; `illegalTransition` if the download is neither queued nor paused.
    public func move(_ id: DownloadID, to move: QueueMove) async throws(DownloadError) -> Int {
        var change = DownloadChange()
        change.move = move
        return try await ask(.change(change), of: id).position ?? 0
    }

    /// Returns details of a download beyond its published state, as of this moment.
    /// - Throws: `notFound`, `overloaded`, `storeFailed`.
    public func details(of id: DownloadID) async throws(DownloadError) -> DownloadDetails {
        if let entry = entries[id], let download = index.download(id) {
            let attempt = entry.machine.isPlacing ? entry.work?.attempt : nil
            return DownloadDetails(
                download, entry.machine.record, coverage: attempt?.written ?? entry.machine.written,
                connections: entry.work?.attempt?.openConnections ?? [])
        }
        let record: DownloadRecord?
        do throws(StoreError) {
            record = try await records([id], by: .now + Self.answerLimit).first
        } catch {
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
        guard let record, let download = index.download(id) else { throw .notFound }
        return DownloadDetails(download, record, coverage: Coverage(record.segments), connections: [])
    }

    /// Removes a record. A live download is cancelled first.
    /// - Parameters:
    ///   - id: The download.
    ///   - deletesFile: Whether the finished file is removed too.
    ///   - isExpected: Whether the download is still the version that the client means; `nil`: any version.
    /// - Throws: `preconditionFailed`, `directoryAway`, and the errors of ``perform(_:on:)``.
    public func remove(
        _ id: DownloadID, deletingFile deletesFile: Bool,
        if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) {
        let deadline = ContinuousClock.now + Self.answerLimit
        if deletesFile {
            if let download = index.download(id) { try checkFilesAreThere([download]) }
            try await recogniseFile(of: id, by: deadline)
        }
        _ = try await ask(.remove(deletingFile: deletesFile), of: id, if: isExpected, by: deadline)
    }

    /// Sends a command to a download's machine or owner, and waits for its result.
    private func ask(
        _ request: DownloadMachine.Command.Request, of id: DownloadID,
        if isExpected: (@Sendable (Download) -> Bool)? = nil, by deadline: ContinuousClock.Instant? = nil
    ) async throws(DownloadError) -> Download {
        guard !isShuttingDown else { throw .shuttingDown }
        let deadline = deadline ?? .now + Self.answerLimit
        // A version that is not known here may be another replica's.
        if let isExpected, index.download(id).map(isExpected) != true { try await catchUp(within: deadline - .now) }
        let pins = try await pin([id], by: deadline)
        defer { unpin(pins) }
        let result: Result<Download, DownloadError> = await withCheckedContinuation { continuation in
            guard let entry = entries[id] else {
                pass(
                    request, of: id, by: pins.owners[id], to: .continuation(continuation), if: isExpected, until: deadline)
                sendLetters()
                return
            }
            let waiter = wait(with: .continuation(continuation), by: deadline)
            // A move may give other downloads new arrivals. All changes become durable together.
            if case .change(let change) = request, change.move != nil { group = WriteBatch() }
            send(.command(command(request, of: id, waiter, if: isExpected)), to: entry)
            submitGroup()
            schedule()
        }
        return try result.get()
    }

    func wait(with asker: Asker, by deadline: ContinuousClock.Instant? = nil) -> DownloadMachine.Waiter {
        lastWaiter += 1
        waiters[lastWaiter] = asker
        setTimer(.answer(lastWaiter), at: deadline ?? .now + Self.answerLimit)
        return lastWaiter
    }

    /// Downloads to which commands are about to be sent.
    struct Pins {
        /// Downloads with machines here, which stay until they are unpinned.
        var entries: [Entry] = []
        /// The instances that own other downloads.
        var owners: [DownloadID: Int64] = [:]
    }

    /// Finds or makes the machines of downloads, and keeps them until they are unpinned. The records of ended downloads
    /// are read from the store.
    /// - Returns: The machines, and the owners of downloads without a machine here.
    /// - Throws: `overloaded` if the store does not respond by the deadline.
    func pin(_ ids: [DownloadID], by deadline: ContinuousClock.Instant? = nil) async throws(DownloadError) -> Pins {
        let deadline = deadline ?? .now + Self.answerLimit
        var pins = Pins()
        var missing = ids
        do throws(DownloadError) {
            for attempt in 0...Self.mostReads {
                for entry in missing.compactMap({ entries[$0] }) {
                    entry.pins += 1
                    pins.entries.append(entry)
                }
                missing.removeAll { entries[$0] != nil }
                if missing.isEmpty || attempt == Self.mostReads { break }
                guard let held = try await read(missing, by: deadline) else { break }
                pins.entries += held.entries
                pins.owners.merge(held.owners) { $1 }
                let known = Set(held.entries.map(\.machine.id)).union(held.owners.keys)
                missing.removeAll(where: known.contains)
            }
        } catch {
            unpin(pins)
            throw error
        }
        return pins
    }

    /// The maximum number of attempts to read downloads without a machine. Concurrent requests may have released them again.
    private static let mostReads = 4

    /// Unpins machines once their commands have been sent, and removes those that are no longer needed.
    func unpin(_ pins: Pins) {
        for entry in pins.entries {
            entry.pins -= 1
            if entry.pins == 0 { tidy(entry) }
        }
    }

    /// Reads downloads without a machine, and pins them.
    /// - Returns: The pinned downloads; `nil` if there was none to read. Further downloads may have machines by now if
    ///   other requests have read them at the same time.
    private func read(_ ids: [DownloadID], by deadline: ContinuousClock.Instant) async throws(DownloadError) -> Pins? {
        var hasWaited = false
        var isBehind = fleet != nil && ids.contains { index.version(of: $0) == nil }
        while true {
            if let id = ids.first(where: { reading[$0] != nil }) {
                try await follow(by: deadline) { reading[id]?.append($0) }
                hasWaited = true
            } else if isBehind {
                // Another replica may have just added the download.
                try await catchUp(within: deadline - .now)
                isBehind = false
            } else {
                break
            }
        }
        let missing = ids.filter { entries[$0] == nil && index.version(of: $0) != nil }
        if missing.isEmpty { return hasWaited ? Pins() : nil }
        for id in missing { reading[id] = [] }
        var failure: DownloadError?
        defer {
            for id in missing { reading.removeValue(forKey: id)?.forEach { $0(Self.passedOn(failure)) } }
        }
        do throws(StoreError) {
            guard let fleet else { return Pins(entries: try await records(missing, by: deadline).compactMap(hold)) }
            let taking = try await fleet.take(missing, within: deadline - .now)
            return Pins(entries: taking.records.compactMap(hold), owners: taking.owners)
        } catch {
            // Nothing has been changed yet.
            failure = error.isInterruption ? .overloaded : DownloadError(error)
            throw failure ?? .overloaded
        }
    }

    private func records(
        _ ids: [DownloadID], by deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [DownloadRecord] {
        let result: Result<[DownloadRecord], StoreError>? = await self.result(by: deadline) { [store] finish in
            Task {
                do throws(StoreError) { finish(.success(try await store.records(ids))) } catch { finish(.failure(error)) }
            }
        }
        guard let result else { throw .interrupted("it does not answer in time") }
        return try result.get()
    }

    /// Whether a request waits for a download's record.
    func isBeingRead(_ id: DownloadID) -> Bool { reading[id] != nil }

    /// Makes and pins a machine for a record that was read; `nil` if the download already has one or was removed.
    private func hold(_ record: DownloadRecord) -> Entry? {
        guard entries[record.id] == nil, index.version(of: record.id) != nil, let url = HTTPURL(record.download.url) else {
            return nil
        }
        var record = record
        record.download.expiresAt = configuration.retention.expiry(of: record.download)
        let entry = Entry(DownloadMachine(record, url: url, written: Coverage(record.segments)))
        entry.pins = 1
        entries[record.id] = entry
        if fleet != nil { send(.admitted, to: entry) }
        return entry
    }
}

// MARK: - Finished files

extension DownloadService {
    /// Opens a finished file without the disk, for use on an event loop; `nil` if that fails or the disk is needed.
    public nonisolated func openCachedFile(_ name: String, in folder: String, as identity: FileIdentity) -> FileDescriptor? {
        depot.openCached(FilePath(name, in: folder), as: identity)
    }

    /// Whether finished files are in object storage.
    public nonisolated var keepsObjects: Bool { depot.objects != nil }

    /// Returns a URL at which a finished file in object storage is available for a minute, with ranges; `nil` if files
    /// are on this machine. Sends no request.
    /// - Parameters:
    ///   - isHead: Whether the URL is signed for HEAD instead of GET.
    ///   - disposition: The Content-Disposition of the response; `nil`: none.
    public nonisolated func address(
        of id: DownloadID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String
    ) -> String? {
        depot.objects?.address(of: id, as: identity, isHead: isHead, disposition: disposition, mediaType: mediaType)
    }

    /// Opens the finished file of a download, if it is still the one that was published. Its present identity is recorded.
    /// - Returns: The file and its identity; without a file if it is in object storage.
    /// - Throws: `gone`, `unavailable`.
    public func openFile(of id: DownloadID) async throws(FinishedFileError) -> (FileDescriptor?, FileIdentity) {
        if depot.objects == nil, volume.isAway { throw .unavailable("the downloads directory is away") }
        guard let identity = try await currentFile(of: id), let path = index.download(id)?.path else { throw .gone }
        if depot.objects != nil { return (nil, identity) }
        do throws(FileError) {
            return (
                try await BlockingExecutor.disk.run { [depot] () throws(FileError) in try depot.open(path, as: identity) },
                identity
            )
        } catch {
            throw error.meansNoBytes ? .gone : .unavailable(error.message)
        }
    }

    /// Whether the finished file of a download is present, judging by its name.
    private func hasFile(_ download: Download) -> Bool {
        guard let file = download.published, !download.fileMissing, !context.names.isClaimed(file.path, byOtherThan: download.id)
        else { return false }
        // A file that cannot be examined does not count as missing.
        return volume.isAway || depot.has(file)
    }

    /// Refuses to delete finished files while their directory is away: the records would be removed, but not the files.
    private func checkFilesAreThere(_ downloads: [Download]) throws(DownloadError) {
        guard depot.objects == nil, volume.isAway else { return }
        if downloads.contains(where: { $0.published != nil }) { throw .directoryAway }
    }

    /// Records the present identity of a finished file before it is removed with its record. A copy that was restored
    /// from a backup is the same file with another identity.
    /// - Throws: `unconfirmed` if that takes too long. A repeated request continues from there.
    private func recogniseFile(of id: DownloadID, by deadline: ContinuousClock.Instant? = nil) async throws(DownloadError) {
        guard let download = index.download(id), download.published != nil, !hasFile(download) else { return }
        let result: Result<Download, DownloadError> = await withCheckedContinuation { continuation in
            let waiter = wait(with: .continuation(continuation), by: deadline)
            Task {
                _ = try? await self.currentFile(of: id)
                self.answer(waiter, .success(download))
            }
        }
        _ = try result.get()
    }

    /// Finds the finished file of a download and records its identity.
    /// - Returns: The identity of the file; `nil` if it is gone.
    @discardableResult
    func currentFile(of id: DownloadID) async throws(FinishedFileError) -> FileIdentity? {
        guard let download = index.download(id), let file = download.published else { return nil }
        if hasFile(download) { return download.file }
        let found = try await recognise(file, of: id)
        if let change = noted(found, of: download) { _ = try? await ask(change, of: id) }
        return found
    }

    /// Finds on the disk the present identity of a download's finished file; `nil` if it is gone.
    private func recognise(
        _ file: PublishedFile, of id: DownloadID
    ) async throws(FinishedFileError) -> FileIdentity? {
        if context.names.isClaimed(file.path, byOtherThan: id) { return nil }
        var found: FileIdentity?
        do throws(FileError) {
            switch try await depot.recognise(file, of: id) {
            case .identical: found = file.identity
            case .adopted(let identity): found = identity
            case .different, .missing: break
            }
        } catch {
            throw .unavailable(error.message)
        }
        // Another download may have got the name meanwhile.
        return context.names.isClaimed(file.path, byOtherThan: id) ? nil : found
    }

    /// Returns the command that records the found file; `nil`: the record has it already.
    private func noted(_ found: FileIdentity?, of download: Download) -> DownloadMachine.Command.Request? {
        download.fileMissing != (found == nil) || (found != nil && found != download.file) ? .noteFile(found) : nil
    }
}

// MARK: - Settings

extension DownloadService {
    /// Changes settings. When it returns, they are durable and in effect: more downloads start if there are free slots,
    /// and running ones share the new speed limit. Lower numbers of downloads and connections take effect as these end.
    /// - Parameters:
    ///   - values: The new values by name, each in its range.
    ///   - speedSchedule: The new schedule; `nil`: it does not change.
    ///   - isExpected: Whether the present settings are those that the client means.
    /// - Returns: All settings afterwards.
    /// - Throws: `unconfirmed` (it may still happen); after all other errors, nothing has changed:
    ///   `preconditionFailed`, `overloaded`, `shuttingDown`, `insufficientStorage`, `storeFailed`.
    public func change(
        _ values: [ServiceSettings.Name: Int64], speedSchedule: SpeedSchedule? = nil,
        if isExpected: @Sendable (ServiceSettings) -> Bool = { _ in true }
    ) async throws(DownloadError) -> ServiceSettings {
        let deadline = ContinuousClock.now + Self.answerLimit
        // Changes are made one after another, so that the expected settings still hold when one is made.
        while isChangingSettings { try await follow(by: deadline) { settingsWaiters.append($0) } }
        guard !isShuttingDown else { throw .shuttingDown }
        guard isExpected(configuration.settings) else { throw .preconditionFailed }
        isChangingSettings = true
        var changes = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, String($0.value)) })
        if let speedSchedule { changes[ServiceSettings.scheduleName] = speedSchedule.keptText }
        if isShared {
            do throws(DownloadError) {
                let settings = try await changeShared(changes, if: isExpected)
                endSettingsChange(nil)
                return settings
            } catch {
                endSettingsChange(error)
                throw error
            }
        }
        let commit = store.submit(changes.map { .set(name: $0.key, value: $0.value) })
        let outcome: StoreError?? = await self.result(by: deadline) { finish in commit.whenDone(finish) }
        guard let outcome else {
            // The change may still become durable, and takes effect then.
            Task { self.conclude(values, speedSchedule, await commit.failure()) }
            throw .unconfirmed
        }
        conclude(values, speedSchedule, outcome)
        if let outcome { throw DownloadError(outcome) }
        return configuration.settings
    }

    /// Applies changed settings unless their commit has failed, and lets other changes go on.
    private func conclude(_ values: [ServiceSettings.Name: Int64], _ speedSchedule: SpeedSchedule?, _ error: StoreError?) {
        if error == nil {
            for (name, value) in values { configuration.settings[name] = value }
            if let speedSchedule { configuration.settings.speedSchedule = speedSchedule }
            applySettings()
        }
        endSettingsChange(error.map { DownloadError($0) })
    }

    private func endSettingsChange(_ failure: DownloadError?) {
        isChangingSettings = false
        for waiter in settingsWaiters { waiter(Self.passedOn(failure)) }
        settingsWaiters = []
    }

    func applySettings() {
        let settings = configuration.settings
        queue.limits = DownloadQueue.Limits(
            maxConcurrent: settings.maxConcurrent, maxPerHost: fleet == nil ? settings.maxPerHost : .max)
        limitSpeed()
        seekTurns()
    }

    /// Applies the present speed limit. With a schedule, it is applied again at the beginning of the next minute:
    /// entries begin and end with minutes, and a changed clock is noticed within one.
    func limitSpeed() {
        let settings = configuration.settings
        // With the lowest limit, connections stay and no attempt fails.
        speedLimiter.setLimit(bytesPerSecond: isResting ? 1 : settings.speedLimit(now: clock.now))
        guard !settings.speedSchedule.entries.isEmpty, !isShuttingDown else { return }
        let millisecond = (clock.now.millisecondsSinceEpoch % 60_000 + 60_000) % 60_000
        setTimer(.speedSchedule, at: .now + .milliseconds(60_000 - millisecond))
    }
}

// MARK: - Repeated requests

extension DownloadService {
    /// Claims a key for a request of the caller, unless a request with it has been carried out. Until the key is
    /// released, other requests with it wait.
    /// - Parameter key: The request's key.
    /// - Returns: The outcome of each item, with the downloads as they were then; `nil`: the caller has to carry out
    ///   the request.
    /// - Throws: `keyMismatch`, `shuttingDown`, `overloaded` (the earlier request takes too long), `storeFailed`.
    public func claim(_ key: RequestKey) async throws(DownloadError) -> [Addition.Outcome]? {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            guard !isShuttingDown else { throw .shuttingDown }
            guard let claim = claims[ExactText(key.name)] else { break }
            guard claim.digest == key.digest else { throw .keyMismatch }
            try await follow(by: deadline) { claims[ExactText(key.name)]?.waiters.append($0) }
        }
        switch idempotency.lookUp(key, now: trustedTime()) {
        case .found(let outcomes): return outcomes
        case .mismatch: throw .keyMismatch
        case .unknown: break
        }
        claims[ExactText(key.name)] = Claim(digest: key.digest)
        guard fleet != nil else { return nil }
        do throws(DownloadError) {
            guard let kept = try await keptElsewhere(key) else { return nil }
            release(key)
            return kept
        } catch {
            release(key, after: error)
            throw error
        }
    }

    /// Releases a key and resumes the requests that wait for it. If the request has failed, the next one is carried
    /// out, unless it has waited for the store in vain.
    public func release(_ key: RequestKey, after failure: DownloadError? = nil) {
        if claims[ExactText(key.name)]?.isUnsettled ?? false { return }
        for waiter in claims.removeValue(forKey: ExactText(key.name))?.waiters ?? [] { waiter(Self.passedOn(failure)) }
    }

    /// A request with a key that is being carried out.
    private struct Claim {
        let digest: [UInt8]
        var waiters: [Follower] = []
        /// Whether the request was answered before its commit has ended. The end of the commit releases the claim then.
        var isUnsettled = false
    }

    /// Returns the changes that make the outcomes of a request durable under its key.
    private func remember(_ outcomes: [Addition.Outcome], as key: RequestKey?) -> [StoreChange] {
        guard let key else { return [] }
        let record = IdempotencyRecord(key: key.name, digest: key.digest, outcomes: outcomes, createdAt: clock.now)
        return [.remember(record)] + idempotency.remember(record, now: trustedTime()).map(StoreChange.forget)
    }

    /// Forgets the outcomes of a key whose commit has failed.
    private func forget(_ key: RequestKey?) {
        if let key { idempotency.forget(key.name) }
    }
}

extension DownloadMachine.Command.Request {
    init(_ command: DownloadCommand) {
        self =
            switch command {
            case .pause: .pause
            case .resume: .resume
            case .cancel: .cancel
            case .retry: .retry
            }
    }
}

extension DownloadCommand {
    /// Whether the command changes a download in this state.
    func changes(_ state: DownloadState) -> Bool {
        switch (self, state) {
        case (.pause, .queued), (.pause, .downloading), (.pause, .retrying): true
        case (.resume, .paused), (.resume, .failed): true
        case (.cancel, .queued), (.cancel, .downloading), (.cancel, .retrying), (.cancel, .paused), (.cancel, .failed): true
        case (.retry, .failed), (.retry, .cancelled): true
        default: false
        }
    }
}

extension ServiceSettings {
    /// Returns the present limit over all downloads in bytes per second, by the local time of the process.
    fileprivate func speedLimit(now: Timestamp) -> Int64 {
        speedLimit(at: now, offset: SystemTime.localOffset(secondsSinceEpoch: now.millisecondsSinceEpoch / 1000))
    }
}
