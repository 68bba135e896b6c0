internal import DownloadCore
internal import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import ObjectStorage

/// A replica of a fleet. Finished files are in object storage, if the configuration has one.
struct FleetSharing: Sharing {
    let fleet: FleetStore
    /// The finished files in object storage; `nil` if they are on this machine.
    let objects: ObjectFinishedFiles?

    init(
        _ fleet: FleetStore, _ contents: StoredContents, _ configuration: DownloadsConfiguration, _ client: HTTPClient,
        _ partFiles: PartFiles, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.fleet = fleet
        guard let (location, credentials) = configuration.objects, let owner = contents.fleet?.owner else {
            objects = nil
            return
        }
        let storage = ObjectStorage(location, credentials: credentials, client: client)
        let place = ObjectPlace(storage, owner) { place, replacing throws(StoreError) in
            try await fleet.keep(place: place, replacing: replacing)
        }
        objects = ObjectFinishedFiles(
            partFiles, storage, place, pauses: configuration.retryDelay,
            noteUnusedObject: { try? await fleet.noteUnusedObject($0) }, log: log)
    }

    let isShared = true
    var condition: FleetCondition? { fleet.condition }

    func catchUp(within limit: Duration?) async throws(StoreError) {
        try await fleet.catchUp(within: limit ?? FleetStore.patience)
    }

    func claimSubscription(
        _ id: DownloadID, host: String, forced: Bool
    ) async throws(StoreError) -> ClaimedSubscription? {
        try await fleet.claimSubscription(id, host: host, forced: forced)
    }

    func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void) {
        fleet.followSubscriptions(receive)
    }

    func subscription(_ id: DownloadID) async throws(StoreError) -> StoredSubscription? {
        try await fleet.subscription(id)
    }

    func problem() async -> String? { await objects?.problem() }

    func makeFinishedFiles(_ partFiles: PartFiles) -> any FinishedFiles { objects ?? LocalFinishedFiles(partFiles) }

    func makePublisher(_ contents: StoredContents, epoch: UInt64) -> DownloadPublisher {
        DownloadPublisher(contents.fleet ?? FleetContents()) { [weak fleet] in fleet?.pull() }
    }

    /// Makes the claims beside no records: finished files are in object storage, and part files on several replicas.
    func makeQuota(_ quota: Int64, _ index: SnapshotIndex) -> QuotaReservations { QuotaReservations(quota: quota) }

    /// Makes names that are never taken: a file belongs to its download, not to a directory.
    func makeNames(_ finishedFiles: any FinishedFiles) -> FileNames { FileNames(isTaken: nil) }

    func makeCoordination(log: @escaping @Sendable (DownloadLogEvent) -> Void) -> any Coordination {
        FleetCoordination(fleet, objects: objects, log: log)
    }

    func startHousekeeping(
        _ clock: ServiceClock, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) -> [Task<Void, Never>] {
        guard let objects else { return [] }
        let collector = ObjectCollector(
            fleet: fleet, storage: objects.storage, isOwn: { objects.place.isOwn },
            now: { min(clock.reading.trusted, objects.storage.now) }, log: log)
        return [Task { await collector.collect() }, Task { await collector.sweep() }, Task { await objects.watch() }]
    }

    func logStart(_ log: (DownloadLogEvent) -> Void) {
        log(.joined(run: fleet.instance))
        if let exposure = fleet.exposure { log(.warning(exposure)) }
        guard fleet.mayLoseCommits else { return }
        log(
            .warning(
                "the database has a standby and synchronous_standby_names is empty: if it is promoted, the last changes may be lost"
            ))
    }
}
