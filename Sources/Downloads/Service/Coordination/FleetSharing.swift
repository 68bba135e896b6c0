internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import ObjectStorage

/// A replica of a fleet. Finished files are in object storage, if the configuration has one.
struct FleetSharing: Sendable {
    let fleet: FleetStore
    /// The finished files in object storage; `nil` if they are on this machine.
    let objects: ObjectFinishedFiles?

    init(
        _ fleet: FleetStore, _ contents: StoredContents, _ configuration: DownloadsConfiguration, _ client: HTTPClient,
        _ partFiles: PartFiles, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.fleet = fleet
        guard let location = configuration.objects, let credentials = configuration.objectCredentials,
            let owner = contents.fleet?.owner
        else {
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

    /// Returns the outcome that another replica has recorded for a key, once it is published here; `nil`: none.
    func outcome(of key: RequestKey) async throws(DownloadError) -> IdempotencyRecord? {
        do throws(StoreError) {
            guard let record = try await fleet.read({ try $0.idempotencyRecord(key.name) }) else { return nil }
            guard record.digest == key.digest else { throw StoreError.conflict }
            try await fleet.catchUp()
            return record
        } catch {
            throw error == .conflict ? .keyMismatch : DownloadError(error)
        }
    }

    /// Makes the publisher of the replica.
    func makePublisher(_ contents: StoredContents) -> DownloadPublisher {
        DownloadPublisher(contents.fleet ?? FleetContents()) { [weak fleet] in fleet?.pull() }
    }

    /// Starts the tasks that keep finished files in order.
    func startHousekeeping(
        _ clock: ServiceClock, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) -> [Task<Void, Never>] {
        guard let objects else { return [] }
        let collector = ObjectCollector(
            fleet: fleet, storage: objects.storage, isOwn: { objects.place.isOwn },
            now: { min(clock.reading.trusted, objects.storage.now) }, log: log)
        return [Task { await collector.collect() }, Task { await collector.sweep() }, Task { await objects.watch() }]
    }

    /// Logs the start of the replica.
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
