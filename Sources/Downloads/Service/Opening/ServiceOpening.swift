internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import System

/// The first half of a start: opens the directories and the records, decides about the settings, and makes the parts of
/// the service. The second half restores the downloads.
struct ServiceOpening: Sendable {
    typealias OpenFiles = (DataDirectory) -> (PartFiles, any FinishedFiles)
    typealias OpenStore = (DataDirectory) throws(StoreError) -> (store: any RecordStore, fleet: FleetStore?)

    let parts: ServiceParts
    let contents: StoredContents
    let settings: ServiceSettings
    let trustedTimeKeeper: TrustedTimeKeeper
    /// The outcomes of earlier requests.
    let ledger: RequestLedger

    /// Opens the directories and the records.
    /// - Parameters:
    ///   - openFiles: Opens part files and finished files; `nil`: those that the configuration requires.
    ///   - openStore: Opens the store.
    init(
        _ configuration: DownloadsConfiguration, _ client: HTTPClient, _ webhookSender: (any WebhookSender)?,
        log: @escaping @Sendable (DownloadLogEvent) -> Void, openFiles: OpenFiles? = nil, openStore: OpenStore
    ) async throws(DownloadsStartError) {
        let rules = RequestRules(destinations: configuration.destinationGuard)
        do throws(DownloadError) {
            try configuration.checkWebhooks()
        } catch {
            throw DownloadsStartError("bad value for --webhook: \(error)")
        }
        let opened: Opened
        do throws(StoreError) {
            opened = try Opened(configuration, client, log, openFiles, openStore)
        } catch {
            throw DownloadsStartError(error.description)
        }
        contents = opened.contents
        let (store, volume) = (opened.store, opened.volume)
        let sharing = opened.sharing
        let isShared = sharing != nil
        if let problem = await sharing?.objects?.problem() {
            await store.close()
            throw DownloadsStartError(problem)
        }
        var changes: [StoreChange]
        (settings, changes) = Self.settings(configuration, contents, keeping: isShared, log)
        for line in RefusedRow.lines(for: contents.refused) { log(.warning(line)) }
        let clock = ServiceClock(
            configuration.clock, lastKnown: contents.lastKnownTime, probation: configuration.clockProbation)
        let reading = clock.reading
        // Services that share their records have different clocks, and keep no time.
        var trustedTimeKeeper = TrustedTimeKeeper(contents.settings)
        if !isShared, reading.isOnProbation, let change = trustedTimeKeeper.note(reading) { changes.append(change) }
        var ledger = RequestLedger()
        for record in contents.idempotencyRecords {
            changes += ledger.remember(record, now: reading.trusted).map(StoreChange.forget)
        }
        (self.trustedTimeKeeper, self.ledger) = (trustedTimeKeeper, ledger)
        if let setting = volume.save() { changes.append(setting) }
        let secret = Self.secret(contents)
        if let setting = secret.setting { changes.append(setting) }
        let epoch = contents.events.nextEpoch(now: clock.now)
        if let error = await store.submit(changes + [.beginEpoch(epoch)]).value(within: DownloadService.answerLimit) {
            await store.close()
            guard !isShared, error.isInterruption else { throw DownloadsStartError(error.description) }
            throw DownloadsStartError(
                "\(configuration.dataDirectory)/pawl.sqlite cannot be written: another program holds the records")
        }
        sharing?.logStart(log)
        let publisher = sharing?.makePublisher(contents) ?? DownloadPublisher(epoch: epoch, history: contents.events)
        let index = publisher.index
        let trial = PublishingTrial(opened.finishedFiles) { failure in
            log(.warning(failure.map { "files cannot be published: \($0.message)" } ?? "files can be published again"))
        }
        if let reason = volume.reason { log(.volume(reason)) } else { await trial.begin() }
        if let failure = volume.markerFailure {
            log(.warning("a start will not notice that the volume of the downloads directory is away: \(failure.message)"))
        }
        if opened.isVolumeRolledBack { log(.warning(DownloadService.rollback)) }
        let journal = Self.journal(in: opened.data, log)
        parts = ServiceParts(
            configuration: configuration, log: log, clock: clock,
            secret: secret.bytes,
            store: store, sharing: sharing, publisher: publisher,
            probe: StoreProbe(
                store,
                obstacle: {
                    if ProcessEnvironment.lacksDescriptors { return (.descriptorsUsedUp, "too many open files and sockets") }
                    return [configuration.dataDirectory, configuration.downloadsDirectory].compactMap(\.self)
                        .first { !DiskReservations.hasRoom(at: $0) }
                        .map { (.diskFull, "no space left in \($0)") }
                },
                changed: { log(.storage($0)) }),
            journal: journal, subscriptions: contents.subscriptions, partFiles: opened.partFiles,
            finishedFiles: opened.finishedFiles,
            files: FinishedFileLookup(finishedFiles: opened.finishedFiles, volume: volume), trial: trial, volume: volume,
            isVolumeRolledBack: opened.isVolumeRolledBack, refused: Set(contents.refused.compactMap(\.id)),
            // Finished files of a fleet may be in object storage, and part files are on several replicas.
            quota: QuotaReservations(quota: configuration.quota) { isShared ? 0 : index.keptBytes(except: $0) },
            rules: rules, client: client,
            speedLimiter: SpeedLimiter(bytesPerSecond: settings.speedLimit(now: clock.now)),
            webhooks: webhookSender.map {
                WebhookDispatcher(sender: $0, store: store, policy: configuration.webhookPolicy, journal: journal, log: log)
            }, webhookTester: webhookSender.map { WebhookTester(sender: $0) })
    }

    /// The opened directories, with the records and files in them.
    private struct Opened {
        let data: Directory
        let store: any RecordStore
        let sharing: FleetSharing?
        let contents: StoredContents
        let volume: DownloadsVolume
        let isVolumeRolledBack: Bool
        let partFiles: PartFiles
        let finishedFiles: any FinishedFiles

        init(
            _ configuration: DownloadsConfiguration, _ client: HTTPClient,
            _ log: @escaping @Sendable (DownloadLogEvent) -> Void, _ openFiles: OpenFiles?, _ openStore: OpenStore
        ) throws(StoreError) {
            let directory = try DataDirectory(
                path: configuration.dataDirectory, opened: configuration.privateDirectory,
                downloads: configuration.downloadsDirectory, permissions: configuration.filePermissions, opensDownloads: false)
            data = directory.top
            let opened = try openStore(directory)
            store = opened.store
            let contents = try store.load()
            self.contents = contents
            let partFiles = PartFiles(directory)
            sharing = opened.fleet.map { FleetSharing($0, contents, configuration, client, partFiles, log: log) }
            volume = DownloadsVolume(directory, settings: contents.settings, isShared: sharing != nil)
            isVolumeRolledBack = try volume.open()
            for line in directory.warnings { log(.warning(line)) }
            (self.partFiles, finishedFiles) =
                openFiles?(directory) ?? (partFiles, sharing?.objects ?? LocalFinishedFiles(partFiles))
        }
    }

    /// Opens the store that the configuration requires: the database of a fleet, or the records in the data directory.
    static func openStore(
        in directory: DataDirectory, _ configuration: DownloadsConfiguration,
        _ log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) throws(StoreError) -> (store: any RecordStore, fleet: FleetStore?) {
        var options = GroupCommitOptions(committed: { log(.committed(took: $0, changes: $1)) })
        guard let database = configuration.database else {
            try directory.refuse(having: "node", "it is a replica's: give --store and --files, or another --data-dir")
            return (try GroupCommitStore(directory, options: options), nil)
        }
        try directory.refuse(having: "pawl.sqlite", "it has records of its own, which a replica does not take over")
        let writer = PostgresRecordWriter.Options(database: database, node: try directory.node(), lease: configuration.lease)
        // Any transaction costs two messages to the database and a notification.
        options.gatherTime = .milliseconds(20)
        let fleet = try FleetStore(writer, in: directory, committer: options, log: log)
        return (fleet, fleet)
    }

    /// Merges the settings of this start with the stored ones.
    /// - Returns: The merged settings, and the changes to store.
    private static func settings(
        _ configuration: DownloadsConfiguration, _ contents: StoredContents, keeping isShared: Bool,
        _ log: (DownloadLogEvent) -> Void
    ) -> (ServiceSettings, [StoreChange]) {
        // The first replica decides shared settings, until a client changes them. Later replicas change none.
        let isKept = { (name: String) in isShared && contents.settings[name] != nil }
        let (settings, changes) = configuration.settings.merged(
            withKept: contents.settings, explicit: configuration.explicitSettings.filter { !isKept($0.rawValue) },
            isScheduleExplicit: configuration.speedSchedule != nil && !isKept(ServiceSettings.scheduleName),
            areWebhooksExplicit: configuration.webhooks != nil && !isKept(ServiceSettings.webhooksName))
        for name in configuration.explicitSettings
        where isKept(name.rawValue) && configuration.settings[name] != settings[name] {
            log(.warning("\(name.rawValue) stays \(settings[name]), as the fleet has it; PATCH /settings changes it"))
        }
        if let webhooks = configuration.webhooks, webhooks != settings.webhooks {
            log(.warning("--webhook has no effect: the fleet has other webhooks; PATCH /settings changes them"))
        }
        return (settings, changes)
    }

    /// Returns the service's secret, and the change that stores a new one.
    private static func secret(_ contents: StoredContents) -> (bytes: [UInt8], setting: StoreChange?) {
        if let shared = contents.fleet?.secret { return (shared, nil) }
        let kept = contents.settings[StoredContents.secretName].flatMap { Hexadecimal.decode($0.utf8) }
        if let kept, kept.count == 32 { return (kept, nil) }
        var random = SystemRandom()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return (bytes, .set(name: StoredContents.secretName, value: Hexadecimal.encode(bytes)))
    }

    private static func journal(in data: Directory, _ log: (DownloadLogEvent) -> Void) -> TransferJournal? {
        do throws(SystemError) {
            return try TransferJournal(in: data)
        } catch {
            log(.warning("cannot note what is in transfer, in case of a crash: \(error)"))
            return nil
        }
    }
}
