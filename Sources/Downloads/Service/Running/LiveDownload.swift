internal import DownloadCore
internal import DownloadFiles
internal import DownloadTransfer
internal import HTTPClient

/// A download with a machine: the machine, and the resources and results of its actions. Only the service uses it.
final class LiveDownload {
    var machine: DownloadMachine
    /// The event id of the last published version.
    var eventID = EventID(epoch: 0, sequence: 0)
    /// The event id of a version that will be published once it is durable; `nil`: none.
    var reservedEventID: EventID?
    /// The beginning of the wait for a slot.
    var queuedAt: ContinuousClock.Instant?
    /// The resources of the transfer; `nil`: there is none.
    var resources: TransferResources?
    /// Whether the download is included in the service's numbers of busy and of finishing downloads.
    var isBusy = false
    var isFinishing = false
    /// Changes that become durable together with the removal of the download.
    var removalChanges: [StoreChange] = []
    /// The number of requests that are about to send a command.
    var pins = 0
    /// The state of the download among the replicas that share its record. A single service does not use it.
    var membership = Membership()
    /// Whether the crash of the previous instance has changed the download's number of crashes.
    var countsCrash = false
    /// Whether the download has a reservation of disk space under a quota.
    var hasReservation = false
    /// The length of the file in bytes for which the quota had no room; `nil`: unknown or none.
    var wantedBytes: Int64?

    let id: RecordID
    /// The counters of the transfer; `nil`: no bytes are being received.
    var counters: TransferCounters? { machine.activity.contains(.receiving) ? resources?.attempt?.counters : nil }

    init(_ machine: DownloadMachine) {
        id = machine.id
        self.machine = machine
    }

    /// The state of a download among the replicas that share its record.
    struct Membership {
        /// The slot of a download: none, awaited in the queue of all replicas, or held.
        enum Slot {
            case none, awaited, held
        }

        var slot = Slot.none
        /// The revision that was published last, or will be with the present changes; `nil`: none.
        var publishedRevision: UInt64?
        /// Whether a transfer may have made a part file, which is removed before another replica continues the download.
        var mayHavePart = false
    }
}

/// The resources of a transfer, and of verifying and publishing its file.
final class TransferResources {
    var attempt: TransferAttempt?
    var part: PartFile?
    var hasher: StreamingHasher?
    var verification: Verification?
    var verified: VerifiedFile?
    /// The time when the attempt began, and the number of bytes then.
    var begun = ContinuousClock.now
    var bytesAtBeginning: Int64 = 0
    /// The stage of the transfer in the journal.
    var stage = CrashSuspicion.Stage.begun
    var publication: Publication?
    var meter = ProgressMeter()
    var lastCheckpoint = ContinuousClock.now
    /// Enforces the download's own speed limit, which all its connections share.
    let speedLimiter: SpeedLimiter

    init(speedLimit: Int64) {
        speedLimiter = SpeedLimiter(bytesPerSecond: speedLimit)
    }
}
