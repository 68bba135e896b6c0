public import DownloadCore
public import HTTPClient
internal import DownloadTransfer
public import HTTPCore
public import ObjectStorage
public import System

/// The configuration of a ``DownloadService``.
public struct DownloadsConfiguration: Sendable {
    /// The directory of everything that the service keeps; created if it is missing.
    public var dataDirectory: String
    /// The open data directory, if it is private, although its path may lead elsewhere by now; `nil`: the path is opened.
    public var privateDirectory: Directory?
    /// The directory of part files and finished files, created if it is missing; `nil`: the data directory.
    public var downloadsDirectory: String?
    /// The connection string of a fleet's database, for libpq; `nil`: records are kept in the data directory.
    public var database: String?
    /// The object storage of a fleet's finished files, which needs a database and credentials; `nil`: the data directory.
    public var objects: ObjectLocation?
    /// The credentials that sign requests to the object storage.
    public var objectCredentials: ObjectCredentials?
    /// The time for which a replica keeps its downloads without renewing its lease; longer than a restart takes.
    public var lease: Duration = .seconds(15)
    /// Whether a replica that ends releases all its downloads for good. Other replicas start their transfers over.
    public var leavesFleet = false
    /// The permissions of other users for finished files.
    public var filePermissions = FilePermissions()
    /// The maximum number of downloads that transfer at once, 1 or more.
    public var maxConcurrent = 8
    /// The maximum number of those from one host and port, 1 or more.
    public var maxPerHost = 4
    /// The maximum number of connections for one large file, 1 or more.
    public var segments = 4
    /// The limit over all downloads in bytes per second; 0: no limit.
    public var speedLimit: Int64 = 0
    /// Limits for certain times of the week, in place of `speedLimit`; `nil`: the schedule of an earlier instance.
    public var speedSchedule: SpeedSchedule?
    /// The default webhooks; `nil`: the webhooks of an earlier instance.
    public var webhooks: [HTTPURL]?
    /// The types of messages that default webhooks receive.
    public var webhookTypes = WebhookMessageType.selectable
    /// The numbers above that the operator has set for this start. They take precedence over saved values.
    public var explicitSettings: Set<ServiceSettings.Name> = []
    /// The destinations that connections are allowed to.
    public var destinationGuard: DestinationGuard
    /// The bytes that must stay free on the disk. With fewer, no download starts. 0: no minimum.
    public var minFree: Int64 = 0
    /// The maximum bytes of finished files and part files together. With more, no download starts. 0: no limit.
    public var quota: Int64 = 0
    /// Whether downloads wait while the disk is full, cannot be written or is away. Otherwise they fail.
    public var waitsForDisk = true
    /// The times for which records of ended downloads are kept.
    public var retention = Retention()
    /// The longest wait for a connection; `nil`: no limit.
    public var connectTimeout: Duration? = .seconds(15)
    /// The longest wait for the head of a response, after the connection is established; `nil`: no limit.
    public var headTimeout: Duration? = .seconds(60)
    /// The stall limit: a transfer without a byte for this long is stalled, and reconnects; `nil`: no limit.
    public var stallTimeout: Duration? = .seconds(30)
    /// Whether finished files get the modification times of their origins.
    public var remoteTime = false
    /// Whether mirrors that origins announce are not used.
    public var ignoresAnnouncedMirrors = false
    /// The first and the longest delay between attempts.
    public var retryDelay: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))
    /// The operator's choice of when failed attempts are repeated.
    public var retry = RetryChoice()
    /// The interval between checks of running transfers for speed, stalls and checkpoints.
    public var pulse: Duration = .milliseconds(500)
    /// The minimum time between two checkpoints of a transfer, and so the time that a crash costs; see `CheckpointPolicy`.
    public var checkpointInterval: Duration = .seconds(1)
    /// The longest absence of a fleet's database before transfers are limited to 1 byte/s.
    public var throttlesAfter: Duration = .seconds(120)

    /// The settings that can be changed while the service runs.
    var settings: ServiceSettings {
        get {
            ServiceSettings(
                maxConcurrent: max(1, maxConcurrent), maxPerHost: max(1, maxPerHost), segments: max(1, segments),
                speedLimit: max(0, speedLimit), speedSchedule: speedSchedule ?? SpeedSchedule(), webhooks: webhooks ?? [])
        }
        set {
            maxConcurrent = newValue.maxConcurrent
            maxPerHost = newValue.maxPerHost
            segments = newValue.segments
            speedLimit = newValue.speedLimit
            speedSchedule = newValue.speedSchedule
            webhooks = newValue.webhooks
        }
    }

    /// Checks the default webhooks.
    /// - Throws: `destinationForbidden`, `invalid`.
    public func checkWebhooks() throws(DownloadError) {
        try RequestRules(destinations: destinationGuard).check(webhooks: webhooks ?? [])
    }

    /// Reads the wall clock.
    var clock: @Sendable () -> Timestamp = { .now() }
    /// The time for which a clock that has jumped forward must hold before records are deleted by it.
    var clockProbation = ClockTrust.probation
    /// The length of a wait that is borne if an origin cannot resume.
    var patience = Patience.minimum
    /// The number and delays of attempts to deliver a message to a webhook.
    var webhookPolicy = WebhookPolicy()

    /// Makes the default configuration.
    public init(dataDirectory: String, destinationGuard: DestinationGuard) {
        self.dataDirectory = dataDirectory
        self.destinationGuard = destinationGuard
    }
}
