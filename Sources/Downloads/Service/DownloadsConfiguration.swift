public import HTTPClient
internal import HTTPCore
public import ObjectStorage
public import System

/// How a ``DownloadService`` works.
public struct DownloadsConfiguration: Sendable {
    /// Everything the service keeps; made if it is missing.
    public var dataDirectory: String
    /// The same, open, if it was claimed. It is used whatever its path leads to by now.
    public var claimedDirectory: Directory?
    /// Where part files and finished files are kept instead; made if it is missing.
    public var downloadsDirectory: String?
    /// The database of a fleet, as libpq takes it; `nil`: records are kept in the data directory.
    public var database: String?
    /// Where a fleet keeps finished files, and who signs the requests; `nil`: in the data directory. Only with a database: that is how what is
    /// removed is known to go.
    public var objects: (location: ObjectLocation, credentials: ObjectCredentials)?
    /// For how long a replica of a fleet that is not heard of keeps what it has; more than a restart takes.
    public var lease: Duration = .seconds(15)
    /// Whether a replica that ends leaves all that it has to the others, since it will not come back: transfers start over there.
    public var leavesFleet = false
    /// Who else may read finished files.
    public var filePermissions = FilePermissions()
    /// Downloads that transfer at once, 1 or more.
    public var maxConcurrent = 8
    /// Of those, downloads from one origin (scheme, host and port), 1 or more.
    public var maxPerHost = 4
    /// Most connections for one large file, 1 or more.
    public var segments = 4
    /// Bytes per second over all downloads; 0 is no limit.
    public var speedLimit: Int64 = 0
    /// Limits for certain times of the week, which win over `speedLimit`; nil: what was kept from an earlier start.
    public var speedSchedule: SpeedSchedule?
    /// Which of the four numbers above the operator has given for this start: they win over what was kept from an earlier one.
    public var explicitSettings: Set<ServiceSettings.Name> = []
    /// Which destinations may be connected to.
    public var destinationGuard: DestinationGuard
    /// Bytes that have to stay free on the disk: with fewer nothing new starts. 0: that does not matter.
    public var minFree: Int64 = 0
    /// Bytes that finished files and part files may take together: with more nothing new starts. 0 is no limit.
    public var quota: Int64 = 0
    /// For how long what has ended is kept.
    public var retention = Retention()
    /// Longest wait for a connection.
    public var connectTimeout: Duration = .seconds(15)
    /// Longest wait for the head of a response once connected.
    public var headTimeout: Duration = .seconds(60)
    /// A transfer under 1 byte/s for this long counts as stalled, and reconnects.
    public var stallTimeout: Duration = .seconds(30)
    /// First and longest delay between attempts.
    public var retryDelay: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))
    /// How often running transfers are looked at: speed, stalls, checkpoints.
    public var pulse: Duration = .milliseconds(500)
    /// How much time a crash may cost: bytes are synced and their offset recorded this often, or as `CheckpointPolicy` says.
    public var checkpointInterval: Duration = .seconds(1)
    /// For how long a fleet's database may be away before transfers rest until it is back.
    public var restsAfter: Duration = .seconds(120)

    /// What of it can be changed while the service runs.
    var settings: ServiceSettings {
        get {
            ServiceSettings(
                maxConcurrent: max(1, maxConcurrent), maxPerHost: max(1, maxPerHost), segments: max(1, segments),
                speedLimit: max(0, speedLimit), speedSchedule: speedSchedule ?? SpeedSchedule())
        }
        set {
            maxConcurrent = newValue.maxConcurrent
            maxPerHost = newValue.maxPerHost
            segments = newValue.segments
            speedLimit = newValue.speedLimit
            speedSchedule = newValue.speedSchedule
        }
    }

    /// Reads the clock on the wall.
    var clock: @Sendable () -> Timestamp = { .now() }
    /// How long a clock that has jumped forward has to hold before anything is deleted by it.
    var clockProbation = ClockTrust.probation
    /// How often and how long delivering is tried.
    var webhookPolicy = WebhookPolicy()

    /// The defaults of the contract.
    /// - Parameters:
    ///   - dataDirectory: everything the service keeps.
    ///   - destinationGuard: which destinations may be connected to.
    public init(dataDirectory: String, destinationGuard: DestinationGuard) {
        self.dataDirectory = dataDirectory
        self.destinationGuard = destinationGuard
    }
}
