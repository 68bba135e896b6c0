internal import DownloadCore
internal import DownloadIndex
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import System

/// The parts of a service that do not change while it runs. Any thread may use them.
struct ServiceParts: Sendable {
    let configuration: DownloadsConfiguration
    let log: @Sendable (DownloadLogEvent) -> Void
    let clock: ServiceClock
    /// Secret random bytes, the same over restarts. All replicas of a fleet have the same.
    let secret: [UInt8]

    // Records and their readers.
    let store: any RecordStore
    /// The fleet that shares the records; `nil`: the service owns all of them.
    let sharing: FleetSharing?
    let publisher: DownloadPublisher
    let probe: StoreProbe
    /// The known impairments. The default webhooks receive their changes.
    let degradation = Locked(DegradationNews())
    /// Names the downloads in transfer, for the instance after a crash; `nil`: the file cannot be used.
    let journal: TransferJournal?

    /// The subscriptions at the start, oldest first.
    let subscriptions: [StoredSubscription]

    // Files.
    let partFiles: PartFiles
    let finishedFiles: any FinishedFiles
    let files: FinishedFileLookup
    let trial: PublishingTrial
    /// The downloads directory, which may be away.
    let volume: DownloadsVolume
    /// Whether the start has found the directory in an earlier state than the records count on.
    let isVolumeRolledBack: Bool
    /// Downloads whose records cannot be read. All their part files are kept.
    let refused: Set<RecordID>
    let reservations = DiskReservations()
    let quota: QuotaReservations

    // Requests and transfers.
    let rules: RequestRules
    let client: HTTPClient
    /// Enforces the speed limit over all downloads. Each download also has its own limit.
    let speedLimiter: SpeedLimiter
    /// Calls webhooks; `nil`: no webhooks are called.
    let webhooks: WebhookDispatcher?
    /// Sends test messages to webhooks; `nil`: no webhooks are called.
    let webhookTester: WebhookTester?

    /// Returns the limits of the slots that this service gives. The database of a fleet applies the limit per host itself.
    func slotLimits(_ settings: ServiceSettings) -> SlotLimits {
        SlotLimits(maxConcurrent: settings.maxConcurrent, maxPerHost: sharing == nil ? settings.maxPerHost : .max)
    }
}

extension DownloadService {
    nonisolated var log: @Sendable (DownloadLogEvent) -> Void { parts.log }
    nonisolated var clock: ServiceClock { parts.clock }
    nonisolated var store: any RecordStore { parts.store }
    nonisolated var sharing: FleetSharing? { parts.sharing }
    nonisolated var publisher: DownloadPublisher { parts.publisher }
    nonisolated var probe: StoreProbe { parts.probe }
    nonisolated var journal: TransferJournal? { parts.journal }
    nonisolated var partFiles: PartFiles { parts.partFiles }
    nonisolated var finishedFiles: any FinishedFiles { parts.finishedFiles }
    nonisolated var files: FinishedFileLookup { parts.files }
    nonisolated var trial: PublishingTrial { parts.trial }
    nonisolated var volume: DownloadsVolume { parts.volume }
    nonisolated var quota: QuotaReservations { parts.quota }
    nonisolated var speedLimiter: SpeedLimiter { parts.speedLimiter }
    nonisolated var webhooks: WebhookDispatcher? { parts.webhooks }
}
