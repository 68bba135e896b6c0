internal import HTTPClient
internal import HTTPCore
internal import ObjectStorage
internal import System

/// The first half of a start: opens the directories and the records, decides about the settings, and makes the parts of
/// the service. The second half restores the downloads.
struct ServiceOpening: Sendable {
    typealias OpenDepot = (DataDirectory) -> any FileDepot
    typealias OpenStore = (DataDirectory) throws(StoreError) -> (store: any RecordStore, fleet: FleetStore?)

    let parts: ServiceParts
    let contents: StoredContents
    let settings: ServiceSettings
    let trustedTimeKeeper: TrustedTimeKeeper
    /// The outcomes of earlier requests.
    let ledger: RequestLedger

    /// Opens the directories and the records.
    /// - Parameters:
    ///   - openDepot: Makes the depot; `nil`: the one that the configuration requires.
    ///   - openStore: Opens the store.
    init(
        _ configuration: DownloadsConfiguration, _ client: HTTPClient, _ webhookSender: (any WebhookSender)?,
        log: @escaping @Sendable (DownloadLogEvent) -> Void, openDepot: OpenDepot? = nil, openStore: OpenStore
    ) async throws(DownloadsStartError) {
        let place: Place
        do throws(StoreError) {
            place = try Place(configuration, client, log, openDepot, openStore)
        } catch {
            throw DownloadsStartError(error.description)
        }
        contents = place.contents
        let (store, depot, volume) = (place.store, place.depot, place.volume)
        let fleet = place.fleet
        if let problem = await depot.objects?.problem() {
            await store.close()
            throw DownloadsStartError(problem)
        }
        var changes: [StoreChange]
        (settings, changes) = Self.settings(configuration, contents, log)
        for line in RefusedRow.lines(for: contents.refused) { log(.warning(line)) }
        let clock = ServiceClock(
            configuration.clock, lastKnown: contents.lastKnownTime, probation: configuration.clockProbation)
        let reading = clock.reading
        var (trustedTimeKeeper, ledger) = (TrustedTimeKeeper(contents.settings), RequestLedger())
        if fleet == nil, reading.isOnProbation, let change = trustedTimeKeeper.note(reading) { changes.append(change) }
        for record in contents.idempotencyRecords {
            changes += ledger.remember(record, now: reading.trusted).map(StoreChange.forget)
        }
        (self.trustedTimeKeeper, self.ledger) = (trustedTimeKeeper, ledger)
        if volume.isApart, fleet == nil {
            changes.append(.set(name: KnownVolumes.settingName, value: volume.known.text))
        }
        let epoch = contents.events.nextEpoch(now: clock.now)
        if let error = await store.submit(changes + [.beginEpoch(epoch)]).failure(within: DownloadService.answerLimit) {
            await store.close()
            guard fleet == nil, error.isInterruption else { throw DownloadsStartError(error.description) }
            throw DownloadsStartError(
                "\(configuration.dataDirectory)/pawl.sqlite cannot be written: another program holds the records")
        }
        if let fleet { Self.logJoining(fleet, log) }
        let publisher = Self.publisher(contents, fleet, epoch)
        let trial = PublishingTrial(depot) { failure in
            log(.warning(failure.map { "files cannot be published: \($0.message)" } ?? "files can be published again"))
        }
        if let reason = volume.reason { log(.volume(reason)) } else { await trial.begin() }
        if let failure = volume.markerFailure {
            log(.warning("a start will not notice that the volume of the downloads directory is away: \(failure.message)"))
        }
        if place.isVolumeRolledBack { log(.warning(DownloadService.rollback)) }
        let journal = Self.journal(in: place.data, log)
        var random = SystemRandom()
        parts = ServiceParts(
            configuration: configuration, log: log, clock: clock,
            secret: contents.fleet?.secret ?? (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) },
            store: store, fleet: fleet, publisher: publisher,
            probe: StoreProbe(
                store,
                fullDirectory: {
                    [configuration.dataDirectory, configuration.downloadsDirectory].compactMap(\.self)
                        .first { !DiskReservations.hasRoom(at: $0) }
                },
                changed: { log(.storage($0)) }),
            journal: journal, depot: depot, files: FinishedFileLookup(depot: depot, volume: volume), trial: trial,
            volume: volume, isVolumeRolledBack: place.isVolumeRolledBack, refused: Set(contents.refused.compactMap(\.id)),
            quota: Self.quota(configuration.quota, publisher.index, fleet),
            rules: RequestRules(destinations: configuration.destinationGuard), client: client,
            speedLimiter: SpeedLimiter(bytesPerSecond: settings.speedLimit(now: clock.now)),
            webhooks: webhookSender.map {
                WebhookDispatcher(sender: $0, store: store, policy: configuration.webhookPolicy, journal: journal, log: log)
            })
    }

    /// The opened directories, with the records and files in them.
    private struct Place {
        let data: Directory
        let store: any RecordStore
        let fleet: FleetStore?
        let contents: StoredContents
        let volume: DownloadsVolume
        let isVolumeRolledBack: Bool
        let depot: any FileDepot

        init(
            _ configuration: DownloadsConfiguration, _ client: HTTPClient,
            _ log: @escaping @Sendable (DownloadLogEvent) -> Void, _ openDepot: OpenDepot?, _ openStore: OpenStore
        ) throws(StoreError) {
            let directory = try DataDirectory(
                path: configuration.dataDirectory, claimed: configuration.claimedDirectory,
                downloads: configuration.downloadsDirectory, permissions: configuration.filePermissions, opensDownloads: false)
            data = directory.top
            (store, fleet) = try openStore(directory)
            contents = try store.load()
            volume = DownloadsVolume(
                directory, known: DownloadService.knownVolumes(contents, data), isShared: fleet != nil)
            isVolumeRolledBack = try volume.open()
            for line in directory.warnings { log(.warning(line)) }
            depot =
                openDepot?(directory) ?? ServiceOpening.makeDepot(directory, configuration, client, fleet, contents.fleet, log)
        }
    }

    /// Opens the store that the configuration requires: the database of a fleet, or the records in the data directory.
    static func openStore(
        in directory: DataDirectory, _ configuration: DownloadsConfiguration,
        _ log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) throws(StoreError) -> (store: any RecordStore, fleet: FleetStore?) {
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

    /// Makes the depot that the configuration requires: files in object storage or in the data directory.
    private static func makeDepot(
        _ directory: DataDirectory, _ configuration: DownloadsConfiguration, _ client: HTTPClient,
        _ fleet: FleetStore?, _ contents: FleetContents?, _ log: @escaping @Sendable (DownloadLogEvent) -> Void
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

    /// Merges the settings of this start with the stored ones.
    /// - Returns: The merged settings, and the changes to store.
    private static func settings(
        _ configuration: DownloadsConfiguration, _ contents: StoredContents, _ log: (DownloadLogEvent) -> Void
    ) -> (ServiceSettings, [StoreChange]) {
        // A fleet's settings are those of its first replica until a client changes them. Later replicas change none.
        let isKept = { (name: String) in contents.fleet != nil && contents.settings[name] != nil }
        let (settings, changes) = configuration.settings.merged(
            withKept: contents.settings, explicit: configuration.explicitSettings.filter { !isKept($0.rawValue) },
            isScheduleExplicit: configuration.speedSchedule != nil && !isKept(ServiceSettings.scheduleName))
        for name in configuration.explicitSettings
        where isKept(name.rawValue) && configuration.settings[name] != settings[name] {
            log(.warning("\(name.rawValue) stays \(settings[name]), as the fleet has it; PATCH /settings changes it"))
        }
        return (settings, changes)
    }

    private static func logJoining(_ fleet: FleetStore, _ log: (DownloadLogEvent) -> Void) {
        log(.joined(run: fleet.run))
        if let exposure = fleet.exposure { log(.warning(exposure)) }
        guard fleet.mayLoseCommits else { return }
        log(
            .warning(
                "the database has a standby and synchronous_standby_names is empty: if it is promoted, the last changes may be lost"
            ))
    }

    private static func publisher(_ contents: StoredContents, _ fleet: FleetStore?, _ epoch: UInt64) -> DownloadPublisher {
        guard let found = contents.fleet else { return DownloadPublisher(epoch: epoch, history: contents.events) }
        return DownloadPublisher(found) { [weak fleet] in fleet?.pull() }
    }

    private static func quota(_ quota: Int64, _ index: SnapshotIndex, _ fleet: FleetStore?) -> QuotaReservations {
        // In a fleet, finished files are in object storage and part files on several replicas. No records count here.
        fleet == nil
            ? QuotaReservations(quota: quota) { index.keptBytes(except: $0) } : QuotaReservations(quota: quota)
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
