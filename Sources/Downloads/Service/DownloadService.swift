public import HTTPClient
internal import HTTPCore

/// The downloads: takes commands, runs transfers, and owns the truth about each. It is the only writer of the store.
///
/// One download's way is told by the extensions of this type, a chapter a file: `+Adding` (accepted), `+Scheduling` (queued and
/// started), `+Transfers` (head judged, bytes placed), `+Checkpoints` (bytes made to last), `+Finishing` (verified and published),
/// `+Telling` (recorded, and told to all who follow). What may come in between: `+Commands` (pause, resume, cancel, retry,
/// remove), `+Changing`, and `+Recovery` (a new start after a crash).
public actor DownloadService {
    /// What readers see, from any thread, without asking the actor.
    public nonisolated let index: SnapshotIndex
    /// Transitions and progress for those who follow.
    public nonisolated let events: EventHub

    let publisher: DownloadPublisher
    var configuration: DownloadsConfiguration
    let client: HTTPClient
    let store: any DownloadStore
    let directory: DataDirectory
    let finisher: Finisher
    let checkpointer = Checkpointer()
    let reservations = DiskReservations()
    let probe: StoreProbe
    /// Holds the speed limit over all downloads; each has its own besides, in its job.
    let speedLimiter: SpeedLimiter
    let courier: WebhookCourier
    let retryPolicy: RetryPolicy
    let log: @Sendable (DownloadLogEvent) -> Void
    let reports: AsyncStream<TransferReport>
    let reporter: AsyncStream<TransferReport>.Continuation

    /// Downloads that have not completed.
    var jobs = JobTable()
    var queue: DownloadQueue
    var identifiers: DownloadIDGenerator
    /// Those of them that have a transfer.
    var running: Set<DownloadID> = []
    /// How many are being verified and published.
    var finishing = 0
    /// Names under `files` that live downloads have been promised, folded to lower case.
    var reservedNames: [String: DownloadID] = [:]
    /// URLs whose first download is being made durable, with those who wait to see whether theirs is a duplicate.
    var pendingURLs: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// How requests with a key were answered, and those that are being carried out.
    var answers = AnswerMemory()
    var claims: [String: Claim] = [:]
    /// Downloads whose records are being removed: nothing of them begins or is saved any more.
    var leaving: Set<DownloadID> = []
    /// Downloads whose state, as of this revision, the store has not taken, and that nobody waits for: it is told again.
    var unsaved: [DownloadID: UInt64] = [:]
    /// Whether settings are being changed, and those who wait for their turn.
    var isChangingSettings = false
    var settingsWaiters: [CheckedContinuation<Void, Never>] = []
    /// Messages to webhooks that an earlier run has left.
    var leftDeliveries: [WebhookDelivery] = []
    var isStarted = false
    var isShuttingDown = false
    var pulse: Task<Void, Never>?

    /// Locks and opens the data directory, reconciles it with what the store knows, and loads everything. No transfer begins
    /// before `start`.
    /// - Parameters:
    ///   - configuration: how to work.
    ///   - client: runs the transfers.
    ///   - log: told of what happens; called on any thread, must not block.
    /// - Throws: one clear line if the directory cannot be used, for instance because another instance holds it.
    public init(
        configuration: DownloadsConfiguration, client: HTTPClient, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) async throws(DownloadsStartError) {
        try await self.init(configuration: configuration, client: client, log: log) { directory throws(StoreError) in
            try SQLiteDownloadStore(directory, options: GroupCommitter.Options(committed: { log(.committed(took: $0)) }))
        }
    }

    /// The same with a store of the caller's choice.
    init(
        configuration: DownloadsConfiguration, client: HTTPClient, log: @escaping @Sendable (DownloadLogEvent) -> Void,
        openStore: (DataDirectory) throws(StoreError) -> any DownloadStore
    ) async throws(DownloadsStartError) {
        let contents: StoredContents
        do throws(StoreError) {
            directory = try DataDirectory(path: configuration.dataDirectory)
            store = try openStore(directory)
            contents = try store.load()
        } catch {
            throw DownloadsStartError(error.description)
        }
        var configuration = configuration
        var (settings, changes) = configuration.settings.merged(
            withKept: contents.settings, explicit: configuration.explicitSettings)
        configuration.settings = settings
        for answer in contents.answers {
            changes += answers.remember(answer, now: .now()).map(StoreChange.forget)
        }
        let epoch = contents.events.nextEpoch(now: .now())
        changes.append(.beginEpoch(epoch))
        do throws(StoreError) {
            try await store.submit(changes).wait()
        } catch {
            throw DownloadsStartError(error.description)
        }
        self.configuration = configuration
        self.client = client
        self.log = log
        publisher = DownloadPublisher(epoch: epoch, history: contents.events)
        (index, events) = (publisher.index, publisher.hub)
        probe = StoreProbe(store)
        finisher = Finisher(directory: directory)
        speedLimiter = SpeedLimiter(bytesPerSecond: configuration.speedLimit)
        courier = WebhookCourier(client: client, store: store, configuration: configuration, log: log)
        leftDeliveries = contents.deliveries
        retryPolicy = RetryPolicy(
            firstDelay: configuration.retryDelay.first, longestDelay: configuration.retryDelay.longest)
        queue = DownloadQueue(
            limits: DownloadQueue.Limits(
                maxConcurrent: settings.maxConcurrent, maxPerHost: settings.maxPerHost))
        identifiers = DownloadIDGenerator(after: contents.records.last?.id)
        (reports, reporter) = AsyncStream.makeStream(of: TransferReport.self)
        adopt(contents.records)
    }

    /// Lets transfers begin: those that were queued or running when the service last ended go on from their bytes.
    public func start() {
        guard !isStarted, !isShuttingDown else { return }
        isStarted = true
        Task { [reports] in
            for await report in reports { self.handle(report) }
        }
        schedule()
        Task { [courier, leftDeliveries] in await courier.start(with: leftDeliveries) }
        leftDeliveries = []
    }

    /// Checkpoints and ends all transfers, then closes the store. Live downloads go on at the next start.
    public func shutdown() async {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        pulse?.cancel()
        for job in jobs.all {
            job.retryTimer?.cancel()
            job.attempt?.cancel()
            // The next start verifies it.
            if job.isFinishing { job.hasher.stop() }
        }
        for id in Array(jobs.ids) { await rest(id) }
        await courier.stop()
        for id in unsaved.keys where !leaving.contains(id) {
            if let record = jobs[id]?.record { _ = store.submit([.save(record)]) }
        }
        await store.close()
        reporter.finish()
    }

    /// Why records cannot be written, tried out on the disk; `nil` if they can. Takes about two seconds at most, and writes once a
    /// second at most, however often it is asked.
    public nonisolated func storeComplaint() async -> String? {
        await probe.complaint()
    }
}
