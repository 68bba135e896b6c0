public import HTTPClient
internal import HTTPCore
internal import JSON
internal import ObjectStorage
public import System

/// The downloads: takes commands, runs transfers, and owns the truth about each. It is the only writer of the store.
///
/// What happens to a download is decided by its ``DownloadMachine``. This actor brings the machines their events and carries out the
/// actions that they ask for (`+Interpreter`); this file has what the service is asked for from outside.
public actor DownloadService {
    /// What readers see, from any thread, without asking the actor.
    public nonisolated let index: SnapshotIndex
    /// Transitions and progress for those who follow.
    public nonisolated let events: EventHub
    /// Random bytes that nobody else knows, but for the other replicas of a fleet.
    public nonisolated let secret: [UInt8]

    var configuration: DownloadsConfiguration
    let client: HTTPClient
    let store: any RecordStore
    /// What replicas ask of each other; `nil`: this service has its records to itself.
    let fleet: FleetStore?
    let depot: any FileDepot
    let publisher: DownloadPublisher
    let reservations = DiskReservations()
    let quota: QuotaReservations
    let probe: StoreProbe
    /// The downloads directory, which may be away.
    let volume: DownloadsVolume
    /// Whether the start has found it in an earlier state than records count on.
    let isVolumeRolledBack: Bool
    /// Whether it is away, or has come back and is being looked through.
    var isVolumeAway: Bool
    /// Downloads whose records cannot be read: all their part files are kept.
    let refused: Set<DownloadID>
    let trial: PublishingTrial
    /// Holds the speed limit over all downloads; each has its own besides.
    let speedLimiter: SpeedLimiter
    /// Calls webhooks; `nil`: nobody does.
    let webhooks: WebhookDispatcher?
    let log: @Sendable (DownloadLogEvent) -> Void
    let clock: ServiceClock
    /// Names what is in transfer, for the run after a crash; `nil`: the file cannot be used.
    let journal: TransferJournal?
    /// Lets downloads that are suspected of crashes transfer one after another.
    var suspects = SuspectQueue()
    /// Whether the store has the time by which is deleted, as the clock on the wall is ahead of it.
    var isKeepingTrustedTime = false
    /// Whether records have been saved since the downloads directory was last noted to go on.
    var hasSavedRecords = false
    /// The latest time that records may have been saved with while the clock was not trusted.
    var timeAhead = Timestamp(millisecondsSinceEpoch: 0)

    /// Downloads that are live, or that something is under way for.
    var entries: [DownloadID: Entry] = [:]
    var queue: DownloadQueue
    /// What the machines are told with each event.
    var context: DownloadMachine.Context
    /// Events that came while another was being handled.
    var backlog: [(DownloadID, DownloadMachine.Event)] = []
    var isHandling = false
    /// What has come to its end elsewhere, on its way to the actor.
    let inbox = Inbox<Message>()
    /// Changes that are to be made durable as one, while several commands are carried out together.
    var group: WriteBatch?
    /// Those who wait for the answers to commands.
    var waiters: [DownloadMachine.Waiter: Asker] = [:]
    var lastWaiter: DownloadMachine.Waiter = 0
    /// Downloads with a transfer.
    var running: Set<DownloadID> = []
    /// How many downloads' files are being verified and published.
    var finishingCount = 0
    /// How many downloads something is under way for: a service that stops waits for them.
    var busyCount = 0
    var timers = IndexedHeap<TimerKey, ContinuousClock.Instant>()
    var alarm: Task<Void, Never>?
    var alarmTime: ContinuousClock.Instant?
    var pulse: Task<Void, Never>?
    var quietWaiter: CheckedContinuation<Void, Never>?

    /// Whether there is less free room on the disk than has to stay free.
    var isDiskLow = false
    /// Bytes of finished files that no record tells of, as far as they have been looked for: with a quota only. In a fleet, bytes of this
    /// replica's part files that no transfer adds to.
    var strayBytes: Int128 = 0 {
        didSet { quota.note(unrecorded: strayBytes) }
    }
    /// Queued downloads that have bytes already: under a full quota they may still be the last one that goes beyond.
    var begun: Set<DownloadID> = []
    /// Why nothing new starts, if that is so.
    var gate: WaitingReason?
    private var housekeeping: [Task<Void, Never>] = []

    /// URLs whose first download is being made durable, with those who wait to see whether theirs is a duplicate.
    private var pendingURLs: [String: [Follower]] = [:]
    /// Names in aria2's RPC that clients have chosen for downloads that are being made durable.
    private var pendingGIDs: Set<DownloadGID> = []
    /// Downloads that are being made durable, and will be in the queue then; not in a fleet.
    private var arriving = RankedDownloads()
    /// Arrivals that some of them get once they are durable, to make room for others.
    private var lateArrivals: [DownloadID: DownloadID] = [:]
    /// Records that are being read, with those who wait for them.
    private var reading: [DownloadID: [Follower]] = [:]
    /// What became of requests with a key, and those that are being carried out.
    private var idempotency = IdempotencyStore()
    private var claims: [ExactText: Claim] = [:]
    /// Whether settings are being changed, and those who wait for their turn.
    private var isChangingSettings = false
    private var settingsWaiters: [Follower] = []
    /// Resumes a request that waits for another request of its kind. If that one waited for the store in vain, so did this one: one after
    /// another, they would wait without an end.
    private typealias Follower = @Sendable (DownloadError?) -> Void
    /// Ends waits whose time is over.
    private var waitLimits = WaitLimits()

    /// What those are told who wait for somebody that fails so: nothing of theirs has been done.
    private static func passedOn(_ error: DownloadError?) -> DownloadError? {
        error == .unconfirmed || error == .overloaded ? .overloaded : nil
    }

    var isStarted = false
    var isShuttingDown = false

    // In a fleet only:
    /// Whether there may be a turn to be had, and one is being asked for.
    var mayHaveTurns = true
    var isSeekingTurns = false
    /// What was let go of meanwhile.
    var passedOn: Set<DownloadID> = []
    var isFenced = false
    /// Whether transfers rest, as the database has been away for long.
    var isResting = false
    /// The settings as the database has them, as far as is known; and how often they were read.
    var keptSettings: [String: String] = [:]
    var settingsReads = 0
    var ticks = 0
    /// The commands that other replicas are asked for, by the numbers of the asks.
    var asked: [UInt64: Asked] = [:]
    /// The commands that they have asked for.
    var served = ServedCommands()
    /// What is to be sent to them.
    var letters: [Int64: FleetLetter] = [:]

    /// The longest that a command waits for its answer.
    static let answerLimit: Duration = .milliseconds(4_500)
    /// The longest that a stop waits for transfers and commits.
    public static let shutdownLimit: Duration = .seconds(8)
    /// The longest that a stop waits until the database knows which objects have to be removed.
    private static let discardingLimit: Duration = .seconds(1)
    /// How many downloads a bulk command takes at a time.
    static let bulkPiece = 500

    /// Locks and opens the data directory, reconciles it with what the store knows, and loads everything. No transfer begins
    /// before `start`.
    /// - Parameters:
    ///   - configuration: how to work.
    ///   - client: runs the transfers.
    ///   - webhooks: posts the messages to webhooks; `nil`: they are not called.
    ///   - log: receives what happens; called on any thread, must not block.
    /// - Throws: one clear line if the directory cannot be used, for instance because another instance holds it.
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

    /// Where files are as the configuration has it.
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

    /// The same with a store and a depot of the caller's choice.
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
        // A fleet's are those of its first replica, until they are changed for all: another one does not undo that by starting.
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
        // A fleet's finished files are elsewhere, and part files of other replicas too.
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
        // In a fleet, whoever has a turn may start.
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
        // Before anything is transferred again.
        if let error = await store.submit(entries.values.filter(\.wasInTransfer).map { .save($0.machine.record) }).failure() {
            log(.warning("cannot record what was in transfer at the crash: \(error)"))
        }
        journal?.clear()
        if fleet != nil { keepVolumes() }
        if configuration.quota > 0 { noteFinished((try? depot.finishedBytes()) ?? 0) }
        // Ends with `shutdown`, and with the last reference to the service.
        Task { [weak self, inbox] in
            while let messages = await inbox.next() { await self?.receive(messages) }
        }
    }

    /// Lets transfers begin: those that were queued or running when the service last ended go on from their bytes.
    public func start() {
        guard !isStarted, !isShuttingDown else { return }
        isStarted = true
        limitSpeed()
        for id in entries.keys.sorted() { send(.admitted, to: id) }
        schedule()
        Task { [webhooks] in await webhooks?.start() }
        housekeeping = startHousekeeping()
    }

    /// Checkpoints and ends all transfers, then closes the store. Live downloads go on at the next start.
    /// - Parameter limit: the longest that it waits for transfers and commits.
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
        // What has been recorded by now is in the directory as it is now.
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

    /// What the store can do, tried out on the disk. Takes about two seconds at most, and writes once a second at most, however often it
    /// is asked.
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

    /// Tells the log of a change of the store's condition that nobody has asked for; to be called every few seconds.
    public nonisolated func watchStore() async {
        await probe.watch()
    }

    /// Has a crash of this process leave its mark, so that the next run suspects what was in transfer. Signals belong to the process: this is
    /// for the one service of a program.
    public nonisolated func markCrashes() { journal?.markCrashes() }

    /// How a fleet looks from here; nil: there is none.
    public nonisolated var fleetCondition: FleetCondition? { fleet?.condition }

    /// Whether other replicas have their part in the downloads, so that one may be missing here for a moment.
    public nonisolated var isShared: Bool { fleet != nil }

    /// Has everything be shown that other replicas have done before.
    /// - Parameter limit: the longest wait; without one, as long as a client would wait.
    /// - Throws: `overloaded`.
    public nonisolated func catchUp(within limit: Duration? = nil) async throws(DownloadError) {
        do throws(StoreError) {
            try await fleet?.catchUp(within: limit ?? FleetStore.patience)
        } catch {
            // Nothing was asked for yet.
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
    }

    /// What limits all downloads at the moment, by the schedule or without one, in bytes per second; 0 is no limit.
    public nonisolated var speedLimitInForce: Int64 { speedLimiter.bytesPerSecond }

    /// The settings as they are now.
    public var settings: ServiceSettings { configuration.settings }

    /// Downloads that have a machine: those that are live, or that something is under way for.
    var machineCount: Int { entries.count }

    /// The reserved and the published paths.
    var fileNames: FileNames { context.names }

    /// Whether the present state of a download is known to this run alone, as the store has not taken it.
    func isUnsaved(_ id: DownloadID) -> Bool { entries[id]?.machine.isUnsaved ?? false }
}

// MARK: - Adding

extension DownloadService {
    /// Accepts a download. When it returns, the record is on disk, and with it what the request's key stands for.
    /// - Parameters:
    ///   - new: what to download, and how.
    ///   - key: the request's key, which has been claimed.
    /// - Returns: the new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if asked to reject them), `gidInUse`, `invalid`, `insufficientStorage`,
    ///   `overloaded`, `unconfirmed` (it took too long, and may still happen), `storeFailed`.
    public func add(_ new: NewDownload, key: RequestKey? = nil) async throws(DownloadError) -> Addition {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            _ = try await prepare([new], label: nil, by: deadline)
            var drafts = Drafts()
            let addition = try plan(new, &drafts)
            if try await keep(drafts, [.success(addition)], key, by: deadline) { return addition }
            // Another replica was faster with the URL, or with the key.
            guard let kept = try await keptElsewhere(key)?.first else { continue }
            switch kept {
            case .success(let addition): return addition
            case .failure: throw .overloaded
            }
        }
    }

    /// Accepts many downloads. When it returns, their records are on disk, all of them or, if it throws, none.
    /// - Parameters:
    ///   - items: what to download, and how; or why that is refused already.
    ///   - label: what all of them are called together, if they are a work's: those that are there already get it as a label too, and
    ///     of those that have it the failed and the cancelled ones go on. Those whose file is gone lose it to the new ones. That may have
    ///     been done even if it throws.
    ///   - key: the request's key, which has been claimed.
    /// - Returns: what became of each, in their order.
    /// - Throws: `insufficientStorage`, `overloaded`, `unconfirmed` (it took too long, and may still happen), `storeFailed`.
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

    /// What another replica has done for the request with this key, and shows here then; `nil`: nothing.
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

    /// Waits until nothing is under way that decides whether one of these is a duplicate: a finished file is being looked at, or the first
    /// download of its URL is being made durable. What is there of the work that is called `label` is made ready to be returned.
    /// - Returns: what has been made ready so, and is to be returned whatever became of it since.
    private func prepare(
        _ requests: [NewDownload], label: String?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Set<DownloadID> {
        guard !isShuttingDown else { throw .shuttingDown }
        guard !store.isCongested else { throw .overloaded }
        let known = requests.filter { $0.onDuplicate != .new && index.hasDownload(ofURL: $0.url.string) }
        if !known.isEmpty {
            // Another replica may have removed what would be returned.
            try await catchUp()
            await recogniseFiles(of: Set(known.lazy.map(\.url.string)), by: deadline)
        }
        // Last: whatever else is waited for, another request for the same may come meanwhile.
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

    /// Looks for a finished file of each URL that can stand for it, the newest first, and notes which are missing or there again.
    ///
    /// At most ``candidateLimit`` files are looked at for a URL. What is found missing is no candidate any more.
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

    /// The most downloads of one URL, or of one part of a work, that are candidates for a request; of each kind.
    private static let candidateLimit = 8

    /// Has the downloads that are there already go by a work's label, and no others, and those of the work that have failed or were
    /// cancelled go on, with the checksum that they are to have now.
    /// - Parameter known: those that it was done to.
    /// - Returns: whether there were any besides, and it took a while.
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
        // Each machine takes its commands in order.
        for start in stride(from: 0, to: steps.count, by: Self.bulkPiece) {
            _ = try await ask(steps[start...].prefix(Self.bulkPiece), by: deadline)
        }
        return !steps.isEmpty
    }

    /// The downloads of a work by their items' ids, newest first: a podcast's links change now and then, and its episodes do not.
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

    /// What may be there already of what is asked for: downloads of its URL, and then those of the same part of a work.
    private func candidates(for request: NewDownload, _ parts: [[UInt8]: [Download]]) -> [Download] {
        let same = index.downloads(ofURL: request.url.string, atMost: Self.candidateLimit)
        guard !parts.isEmpty, let id = Self.itemID(request.track), let others = parts[id] else { return same }
        return same + others
    }

    private static func itemID(_ track: [UInt8]?) -> [UInt8]? {
        track.flatMap { (try? JSONValue(parsing: $0))?["id"]?.string }.map { Array($0.utf8) }
    }

    /// Whether a client that asks for its URL can be given a download instead: not one whose file was taken away.
    private func isCurrent(_ download: Download) -> Bool {
        download.state.isLive || (download.state == .completed && hasFile(download))
    }

    /// Downloads that are about to be made, by the URL of each first one.
    private struct Drafts: Sendable {
        var records: [(record: DownloadRecord, url: HTTPURL)] = []
        var first: [String: Download] = [:]
        /// The last draft of those that asked for the same position.
        var lastPlaced: [Int: DownloadID] = [:]
        /// Downloads that get another arrival, to make room.
        var reseated: [DownloadID: QueueSeat.Other] = [:]
        var gids: Set<DownloadGID> = []
        /// Those that are wanted beside others of their URLs.
        var others: Set<DownloadID> = []
        /// Downloads that are returned for their URLs whatever state they are in.
        var takenIn: Set<DownloadID> = []
        /// What there is of the work that the requests are for, by the item's id.
        var parts: [[UInt8]: [Download]] = [:]

        /// The offset of a draft in `records`, which are in the order of their ids; `nil`: the download is no draft.
        func offset(of id: DownloadID) -> Int? {
            var (low, high) = (0, records.count)
            while low < high {
                let middle = (low + high) / 2
                if records[middle].record.id < id { low = middle + 1 } else { high = middle }
            }
            return low < records.count && records[low].record.id == id ? low : nil
        }

        /// Gives a member of the queue another arrival.
        mutating func reseat(_ other: QueueSeat.Other) {
            if let offset = offset(of: other.id) {
                records[offset].record.download.arrival = other.arrival
            } else {
                reseated[other.id] = QueueSeat.Other(
                    id: other.id, arrival: other.arrival, former: reseated[other.id]?.former ?? other.former)
            }
        }

        /// The rank that a download has once the drafts are in the queue.
        func rank(of download: Download) -> QueueRank {
            offset(of: download.id).map { records[$0].record.download.rank } ?? reseated[download.id]?.rank ?? download.rank
        }
    }

    /// The queue with the downloads that are being made durable, extended by the drafts of one request.
    private typealias DraftQueue = ExtendedQueue<ExtendedQueue<SnapshotIndex.Waiting>>

    /// The queue that drafts enter. It must be gone before `arriving` changes, which would copy what both share.
    private var draftQueue: DraftQueue { ExtendedQueue(ExtendedQueue(index.waiting, adding: arriving)) }

    /// Decides what becomes of a request, and drafts the download if it is a new one.
    /// - Returns: The download with its position in the queue.
    private func plan(_ new: NewDownload, _ drafts: inout Drafts) throws(DownloadError) -> Addition {
        var queue = draftQueue
        return positioned(try plan(new, &drafts, &queue), drafts, queue)
    }

    /// Decides what becomes of requests, and drafts the new downloads.
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
            // Items of one request that ask for the same position keep their own order.
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
        drafts.records.append((record, new.url))
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

    /// Makes the drafts durable in one step, together with what the request's key stands for from then on, and lets them begin.
    ///
    /// If that takes longer, it goes on: the downloads appear once they are durable, and the key stays claimed until then.
    /// - Returns: false if another replica was faster with one of the URLs, or with the key.
    private func keep(
        _ drafts: Drafts, _ outcomes: [Addition.Outcome], _ key: RequestKey?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var changes = drafts.records.map { StoreChange.add($0.record) }
        changes += remember(outcomes, as: key)
        if fleet != nil {
            for (record, _) in drafts.records
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
        // In a fleet, the index shows a download before this request goes on.
        if fleet == nil { for (record, _) in drafts.records { arriving.insert(record.id, record.download.rank) } }
        trustedTime()
        let commit = store.submit(changes)
        // They may have turns as soon as they are there: in a fleet, by the same transaction.
        if fleet != nil, drafts.records.contains(where: { $0.record.download.state == .queued }) { seekTurns() }
        // In a fleet, the store shows what it commits, however late.
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

    /// Shows the drafts, which are durable, or discards them.
    /// - Parameters:
    ///   - urls: The URLs for which other requests wait.
    ///   - error: Why the drafts could not be made durable; `nil`: they are.
    /// - Returns: That error.
    private func conclude(_ drafts: Drafts, _ urls: [String], _ key: RequestKey?, _ error: StoreError?) -> StoreError? {
        defer {
            pendingGIDs.subtract(drafts.gids)
            let failure = error.flatMap { $0 == .conflict ? nil : DownloadError($0) }
            for url in urls { pendingURLs.removeValue(forKey: url)?.forEach { $0(Self.passedOn(failure)) } }
        }
        if error != nil {
            for (record, _) in drafts.records {
                _ = leaveArriving(record.download)
                context.names.release(record.id)
                publisher.abandon(record.download.stamp)
            }
            forget(key)
            return error
        }
        if fleet != nil {
            for (record, _) in drafts.records { log(.transition(record.download)) }
            return nil
        }
        for (record, url) in drafts.records {
            let entry = Entry(DownloadMachine(record, url: url))
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

    /// Waits for a result, but not beyond a deadline.
    /// - Parameter begin: Begins what has the result, and is given what takes it.
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

    /// Ends the waits whose time is over.
    func endWaits(now: ContinuousClock.Instant) {
        for end in waitLimits.takeExpired(now: now) { end() }
        if let next = waitLimits.next { setTimer(.waitLimit, at: next) }
    }

    /// Waits for another request.
    /// - Parameter join: Adds this request to those that wait for it.
    /// - Throws: `overloaded` if that takes too long, or if the other one waited for the store in vain.
    private func follow(by deadline: ContinuousClock.Instant, _ join: (@escaping Follower) -> Void) async throws(DownloadError) {
        guard let failure: DownloadError? = await self.result(by: deadline, join) else { throw .overloaded }
        if let failure { throw failure }
    }

    /// Removes a draft from the queue of those that are being made durable.
    /// - Returns: the arrival that it was given meanwhile, to make room for another; `nil`: none.
    private func leaveArriving(_ download: Download) -> DownloadID? {
        let lateArrival = lateArrivals.isEmpty ? nil : lateArrivals.removeValue(forKey: download.id)
        var rank = download.rank
        if let lateArrival { rank.arrival = lateArrival }
        arriving.remove(download.id, rank)
        return lateArrival
    }

    /// Refuses a name and a folder that a file cannot have.
    /// - Parameter id: the download whose file it is; `nil`: a new one.
    private func check(filename: String?, folder: String?, of id: DownloadID?) throws(DownloadError) {
        if let filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        guard let folder, !folder.isEmpty else { return }
        if let objection = FileNaming.objection(toFolder: folder) { throw .invalid(objection) }
        if let objection = context.names.objection(toFolder: FileNaming.normalised(folder), for: id) { throw .invalid(objection) }
    }

    /// Refuses a destination that is known to be forbidden without asking a name server.
    /// - Parameter role: what it would be, if it isn't the URL of the download itself.
    private func check(_ url: HTTPURL, role: String? = nil) throws(DownloadError) {
        if case .forbidden(let reason) = configuration.destinationGuard.evaluate(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }
}

// MARK: - Commands

extension DownloadService {
    /// Carries out a command. When it returns, the new state is on disk and the transfer has come to rest accordingly.
    /// - Parameters:
    ///   - command: what to do.
    ///   - id: which download.
    /// - Returns: the download as the command made it.
    /// - Throws: `notFound`, `illegalTransition`, `storeFailed`, `overloaded` (it took too long, and may still happen).
    public func perform(_ command: DownloadCommand, on id: DownloadID) async throws(DownloadError) -> Download {
        try await ask(DownloadMachine.Command.Request(command), of: id)
    }

    /// Carries out a command on all downloads that match, in pieces of bounded size, each durable as one. One that does not take the
    /// command is left as it is.
    /// - Parameters:
    ///   - command: what to do.
    ///   - states: only downloads in one of these; empty for all.
    ///   - label: only downloads that carry it.
    ///   - folder: only downloads whose file is in it; empty: in none.
    /// - Returns: how many have changed.
    /// - Throws: `storeFailed`, `insufficientStorage`, `overloaded`, `shuttingDown`; some may have changed then.
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

    /// Removes all downloads that match, in pieces of bounded size, each durable as one; live ones are cancelled first.
    /// - Parameters:
    ///   - selection: which; one that is another by the time it is reached is left as it is.
    ///   - deletesFiles: whether finished files go too.
    /// - Returns: how many have been removed.
    /// - Throws: `directoryAway`, `storeFailed`, `insufficientStorage`, `overloaded`, `shuttingDown`; some may have been removed then.
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
                // A replica may have meant a version that was none any more: what still matches is asked for again.
                try await self.catchUp()
                left = left.compactMap { self.index.download($0.id) }.filter(selection.includes)
                if left.isEmpty { return count }
            }
            throw .overloaded
        }
    }

    /// How often is looked at what changes all the time.
    static let mostLooks = 8

    /// Does something with all downloads that match, some at a time, and adds up the results.
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

    /// Asks the machines of some downloads for the same, and waits for all their answers.
    /// - Returns: the downloads of those that have done it.
    private func ask(
        _ request: DownloadMachine.Command.Request, ofPiece piece: [Download],
        if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) -> [Download] {
        try await ask(piece.map { (request, $0) }[...], if: isExpected)
    }

    /// Asks the machines of some downloads for something each, and waits for all their answers.
    /// - Returns: the downloads of those that have done it.
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
            // It moved on, or went, before its turn came.
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
        // In a fleet, readers see what is durable: if there is more, the version that they mean is a former one.
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

    /// Changes a download. When it returns, the change is on disk and in effect: the queue has the new priority or place, a transfer the
    /// new speed limit; one that was given another URL has been stopped, and goes on from its bytes at that URL if they are
    /// still valid there. Mirrors and the number of connections are the next attempt's. A paused, failed or cancelled download stays so.
    /// - Parameters:
    ///   - id: which download.
    ///   - change: what to change.
    ///   - isExpected: whether the download, as it stands, is the one that is meant to be changed.
    /// - Returns: the download as the change made it.
    /// - Throws: `notFound`, `preconditionFailed`, `illegalTransition` (`url`, `mirrors`, `segments`, `filename` or `folder` of a completed
    ///   one, `position` of one that is neither queued nor paused), `invalid`, `destinationForbidden`, `storeFailed`, `overloaded`.
    public func change(
        _ id: DownloadID, _ change: DownloadChange, if isExpected: (@Sendable (Download) -> Bool)? = nil
    ) async throws(DownloadError) -> Download {
        if let url = change.url { try check(url) }
        for url in change.mirrors ?? [] { try check(url, role: "the mirror") }
        try check(filename: change.filename, folder: change.folder, of: id)
        return try await ask(.change(change), of: id, if: isExpected)
    }

    /// Moves a queued or paused download to another place in the queue. When it returns, that is on disk. Between downloads of other
    /// priorities it takes the nearest priority to its own that they allow.
    /// - Returns: how many precede it then.
    /// - Throws: `notFound`, `illegalTransition` (it is neither queued nor paused), `storeFailed`, `overloaded`.
    public func move(_ id: DownloadID, to move: QueueMove) async throws(DownloadError) -> Int {
        var change = DownloadChange()
        change.move = move
        return try await ask(.change(change), of: id).position ?? 0
    }

    /// What is known of a download beyond what it shows, as of this moment.
    /// - Throws: `notFound`, `storeFailed`.
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

    /// Removes a record; a live download is cancelled first.
    /// - Parameters:
    ///   - id: which download.
    ///   - deletesFile: whether the finished file goes too.
    ///   - isExpected: whether the download, as it stands, is the one that is meant to go.
    /// - Throws: `notFound`, `preconditionFailed`, `directoryAway`, `storeFailed`, `overloaded`.
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

    /// Asks a download's machine, and waits for its answer.
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
            // Others may have to make room for one that is moved: that is durable with it.
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

    /// Downloads that somebody is about to ask for something.
    struct Pins {
        /// Those that have machines here, which stay until they are unpinned.
        var entries: [Entry] = []
        /// The runs that own others.
        var owners: [DownloadID: Int64] = [:]
    }

    /// Sees to it that these downloads have machines, and keep them until they are unpinned: one that has ended is read from the store
    /// for it.
    /// - Throws: `overloaded` if the store does not answer by the deadline.
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

    /// How often downloads are read that have no machine: whoever read them at the same time may have let go of them again.
    private static let mostReads = 4

    /// Whoever has pinned these has asked for what was to be asked.
    func unpin(_ pins: Pins) {
        for entry in pins.entries {
            entry.pins -= 1
            if entry.pins == 0 { tidy(entry) }
        }
    }

    /// Reads downloads that have no machine, and pins them.
    /// - Returns: `nil` if none was missing. Otherwise more may have machines by now, if others have read them at the same time.
    private func read(_ ids: [DownloadID], by deadline: ContinuousClock.Instant) async throws(DownloadError) -> Pins? {
        var hasWaited = false
        var isBehind = fleet != nil && ids.contains { index.version(of: $0) == nil }
        while true {
            if let id = ids.first(where: { reading[$0] != nil }) {
                try await follow(by: deadline) { reading[id]?.append($0) }
                hasWaited = true
            } else if isBehind {
                // Another replica may have just added it.
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
            // Nothing was asked for yet.
            failure = error.isInterruption ? .overloaded : DownloadError(error)
            throw failure ?? .overloaded
        }
    }

    /// Reads records, but not beyond a deadline.
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

    /// Whether somebody waits for a download's record.
    func isBeingRead(_ id: DownloadID) -> Bool { reading[id] != nil }

    /// Has a machine for a record that was read, and pins it, if there is none.
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
    /// Opens a finished file if that needs no disk, so that an event loop may do it; `nil` if it does, or fails in any way.
    public nonisolated func openCachedFile(_ name: String, in folder: String, as identity: FileIdentity) -> FileDescriptor? {
        depot.openCached(FilePath(name, in: folder), as: identity)
    }

    /// Whether finished files are in object storage.
    public nonisolated var keepsObjects: Bool { depot.objects != nil }

    /// A URL at which a finished file that is in object storage can be had for a minute, with ranges; `nil` if it is on this machine.
    /// Asks nobody.
    /// - Parameters:
    ///   - isHead: whether the URL is for HEAD, rather than GET: it is signed for one of them.
    ///   - disposition: the Content-Disposition of the response there.
    public nonisolated func address(
        of id: DownloadID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String
    ) -> String? {
        depot.objects?.address(of: id, as: identity, isHead: isHead, disposition: disposition, mediaType: mediaType)
    }

    /// Opens the finished file of a download, if it is still the one that was published. The record says afterwards whether it is.
    /// - Returns: the file, unless it is in object storage, and which it is.
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

    /// Whether the finished file of a download is there, as far as its name tells.
    private func hasFile(_ download: Download) -> Bool {
        guard let file = download.published, !download.fileMissing, !context.names.isClaimed(file.path, byOtherThan: download.id)
        else { return false }
        // One that cannot be looked at is not missing.
        return volume.isAway || depot.has(file)
    }

    /// Refuses to delete finished files that are away: their names would be forgotten, and the files stay.
    private func checkFilesAreThere(_ downloads: [Download]) throws(DownloadError) {
        guard depot.objects == nil, volume.isAway else { return }
        if downloads.contains(where: { $0.published != nil }) { throw .directoryAway }
    }

    /// Has the record say which file the finished one is by now, before it is removed with it: a backup that was copied back is the same.
    /// - Throws: `overloaded` if that takes too long; asked again, it goes on from there.
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

    /// Which file the finished one of a download is by now; `nil` if it is gone. The record says so afterwards.
    @discardableResult
    func currentFile(of id: DownloadID) async throws(FinishedFileError) -> FileIdentity? {
        guard let download = index.download(id), let file = download.published else { return nil }
        if hasFile(download) { return download.file }
        let found = try await recognise(file, of: id)
        if let change = noted(found, of: download) { _ = try? await ask(change, of: id) }
        return found
    }

    /// Looks on the disk which file the finished one of a download is.
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
        // It may have lost its name to another download meanwhile.
        return context.names.isClaimed(file.path, byOtherThan: id) ? nil : found
    }

    /// What the record has to note if this is its finished file now; `nil`: it says so already.
    private func noted(_ found: FileIdentity?, of download: Download) -> DownloadMachine.Command.Request? {
        download.fileMissing != (found == nil) || (found != nil && found != download.file) ? .noteFile(found) : nil
    }
}

// MARK: - Settings

extension DownloadService {
    /// Changes settings. When it returns, they are on disk and in effect: more downloads start where there is room, running ones
    /// share the new speed limit. Lowering the numbers of downloads and connections stops none; it takes effect as they end.
    /// - Parameters:
    ///   - values: the new values by name, each in its range.
    ///   - speedSchedule: the new schedule; nil leaves it as it is.
    ///   - isExpected: whether the settings, as they stand, are those that are meant to be changed.
    /// - Returns: all settings afterwards.
    /// - Throws: `preconditionFailed`, `overloaded` or `storeFailed`, and nothing is changed then; `unconfirmed`: it took too long, and may still happen.
    public func change(
        _ values: [ServiceSettings.Name: Int64], speedSchedule: SpeedSchedule? = nil,
        if isExpected: @Sendable (ServiceSettings) -> Bool = { _ in true }
    ) async throws(DownloadError) -> ServiceSettings {
        let deadline = ContinuousClock.now + Self.answerLimit
        // One after another, so that what was expected still holds when the change is made.
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
            // It may still happen, and has effect then.
            Task { self.conclude(values, speedSchedule, await commit.failure()) }
            throw .unconfirmed
        }
        conclude(values, speedSchedule, outcome)
        if let outcome { throw DownloadError(outcome) }
        return configuration.settings
    }

    /// Has changed settings take effect, unless they could not be made durable, and lets other changes go on.
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

    /// Has the settings take effect.
    func applySettings() {
        let settings = configuration.settings
        queue.limits = DownloadQueue.Limits(
            maxConcurrent: settings.maxConcurrent, maxPerHost: fleet == nil ? settings.maxPerHost : .max)
        limitSpeed()
        seekTurns()
    }

    /// Has the limit of this moment hold, and looks again when the next minute begins if there is a schedule: its entries begin and end with
    /// minutes, and a clock that is set is noticed within one.
    func limitSpeed() {
        let settings = configuration.settings
        // As slow as can be: connections stay, and no attempt fails for it.
        speedLimiter.setLimit(bytesPerSecond: isResting ? 1 : settings.speedLimit(now: clock.now))
        guard !settings.speedSchedule.entries.isEmpty, !isShuttingDown else { return }
        let millisecond = (clock.now.millisecondsSinceEpoch % 60_000 + 60_000) % 60_000
        setTimer(.speedSchedule, at: .now + .milliseconds(60_000 - millisecond))
    }
}

// MARK: - Repeated requests

extension DownloadService {
    /// Asks whether a request with this key has been carried out. If it has not, it is the caller's to carry out, and nobody else's
    /// until it is released: whoever comes with the same key meanwhile waits.
    /// - Parameter key: the request's key.
    /// - Returns: what became of each of its items, with the downloads as they were then; `nil`: nothing yet.
    /// - Throws: `keyMismatch`, `shuttingDown`, `overloaded` (the earlier request takes too long).
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

    /// Lets those go on who wait for the request with this key. If it has failed, the next of them carries it out, unless it has waited in
    /// vain.
    public func release(_ key: RequestKey, after failure: DownloadError? = nil) {
        if claims[ExactText(key.name)]?.isUnsettled ?? false { return }
        for waiter in claims.removeValue(forKey: ExactText(key.name))?.waiters ?? [] { waiter(Self.passedOn(failure)) }
    }

    /// A request with a key that is being carried out.
    private struct Claim {
        let digest: [UInt8]
        var waiters: [Follower] = []
        /// Whether the request was answered before it was known whether it is durable: then that releases the claim.
        var isUnsettled = false
    }

    /// What has to be written for a key to stand for these from then on.
    private func remember(_ outcomes: [Addition.Outcome], as key: RequestKey?) -> [StoreChange] {
        guard let key else { return [] }
        let record = IdempotencyRecord(key: key.name, digest: key.digest, outcomes: outcomes, createdAt: clock.now)
        return [.remember(record)] + idempotency.remember(record, now: trustedTime()).map(StoreChange.forget)
    }

    /// What could not be written has not happened.
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
    /// Whether it changes a download in this state.
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
    /// What limits all downloads now, by the local time of the process.
    fileprivate func speedLimit(now: Timestamp) -> Int64 {
        speedLimit(at: now, offset: SystemTime.localOffset(secondsSinceEpoch: now.millisecondsSinceEpoch / 1000))
    }
}
