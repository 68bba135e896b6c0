internal import HTTPClient
internal import HTTPCore
internal import System

/// One download that has not completed, as the service holds it: its record, and what its transfer is doing.
struct DownloadJob {
    var record: DownloadRecord
    /// Bytes of the part file that belong to the record's entity, whether synced or not.
    var written = Coverage()
    /// Hashes the first bytes of the part file as they arrive; what it lacks is read back when the file is finished.
    var hasher: StreamingHasher
    /// Whether mirrors have brought some of the bytes.
    var hasMixedSources = false
    /// What the mirrors that have brought bytes said that the whole file hashes to.
    var mirrorDigests: [Checksum] = []
    /// The bytes that mirrors brought did not match the checksum.
    var distrustsMirrors = false
    /// Bytes that were written could not be synced, so nobody knows whether they are on the disk.
    var syncFailure: DownloadFailure?
    /// The part file that the present transfer writes to.
    var part: PartFile?
    /// Set while the bytes of a new version wait to take the old ones' place.
    var swap: Swap?
    /// The file under `files`, if the part file already got its name there.
    var published: FileIdentity?
    var isPublished: Bool { published != nil }
    /// The name under `files` that is kept for this download, as it was asked for.
    var reservedName: String?
    /// What a running or stopping attempt does.
    var activity: Activity = .idle
    /// Grows with each attempt, so that what is said of an earlier one is recognised.
    var generation: UInt64 = 0
    /// Judges whether failed attempts are tried again.
    var budget = RetryBudget()
    /// What has been learnt of the origin while resuming.
    var resume: ResumeDecision
    /// Since when it waits for a slot.
    var queuedAt: ContinuousClock.Instant?
    /// Waits until a retry is due.
    var retryTimer: Task<Void, Never>?
    /// The bytes of the present attempt are none of the record's: their count and hash are not taken over.
    var disownsBytes = false
    /// Why the bytes of a new version could not take the old ones' place.
    var swapFailure: DownloadFailure?
    /// Giving up bytes could not be recorded: the store may still count on them, so they are not overwritten in place.
    var mayBeCountedOn = false
    /// The state that a command brought about could not be recorded: a crash would bring back the one before.
    var isUnrecorded = false
    /// How many commands have been carried out: who has waited sees whether another came meanwhile.
    var commands = 0
    /// The store has not been told of the entity, as there are no bytes of it yet that it could count on.
    var hasUnsavedEntity = false
    /// A slot was given while the last transfer was still settling.
    var startsWhenIdle = false
    /// Commands that wait until the transfer has come to rest.
    var restWaiters: [CheckedContinuation<Void, Never>] = []
    var meter = ProgressMeter()
    /// When the last checkpoint was begun.
    var lastCheckpoint: ContinuousClock.Instant?
    /// Holds the download's own speed limit, which all its connections share.
    let speedLimiter: SpeedLimiter
    private(set) var url: HTTPURL
    /// Its place in the order of arrival, which it keeps while failed attempts are tried again.
    var ticket: DownloadQueue.Ticket?

    /// The store is recording that old bytes are given up.
    struct Swap {
        /// The end of the transfer, if it came meanwhile.
        var ending: TransferReport.Ending?
    }

    enum Activity {
        /// Nothing runs; a new attempt may start.
        case idle
        /// An attempt runs, or has been told to stop.
        case transferring(TransferAttempt)
        /// The transfer has ended, and its bytes are being synced.
        case settling
        /// The transfer has ended with all bytes, and they are being verified and published.
        case finishing
    }

    var isIdle: Bool {
        if case .idle = activity { true } else { false }
    }

    var isFinishing: Bool {
        if case .finishing = activity { true } else { false }
    }

    /// Whether the part file may be reduced to the bytes that have come: no more come for now, and the store counts on no others.
    var keepsOnlyWritten: Bool {
        let rests = record.download.state == .paused || record.download.state == .failed
        return rests && !disownsBytes && !mayBeCountedOn && swap == nil && written.byteCount >= record.syncedBytes
    }

    var attempt: TransferAttempt? {
        if case .transferring(let attempt) = activity { attempt } else { nil }
    }

    /// A job for a record; `nil` if the record's URL is not one.
    init?(_ record: DownloadRecord) {
        guard let url = HTTPURL(record.download.url) else { return nil }
        self.init(record, url: url)
    }

    /// A job for a record, whose URL this is.
    init(_ record: DownloadRecord, url: HTTPURL) {
        self.record = record
        self.url = url
        resume = ResumeDecision()
        hasher = Self.hasher(for: record)
        speedLimiter = SpeedLimiter(bytesPerSecond: record.download.speedLimit)
    }

    /// Takes another URL for the same content. Its bytes stay, and have to prove themselves to the new origin; what was learnt
    /// of the old one is forgotten, and what was meant for it alone is not sent elsewhere.
    mutating func relink(to url: HTTPURL, authorization: String?) {
        if url.origin != self.url.origin { record.headers = [] }
        if let authorization {
            record.headers.removeAll { $0.name.lowercased() == "authorization" }
            record.headers.append(RequestHeader(name: "Authorization", value: authorization))
        }
        self.url = url
        record.download.url = url.string
        resume = ResumeDecision()
        budget = RetryBudget(furthest: written.byteCount)
    }

    /// Where the queue counts this download: host and port of its origin.
    var host: String { "\(url.host):\(url.port)" }

    /// The download as readers see it: with the ranges of its bytes, where they are not just the first ones.
    var shown: Download {
        var shown = record.download
        let written = attempt?.written ?? self.written
        // While a transfer is being stopped, what is known of its bytes may be ahead of the record.
        if written.byteCount == shown.bytesReceived { shown.receivedRanges = written.outline(atMost: Download.rangeLimit) }
        return shown
    }

    /// Changes the record as an action of the lifecycle asks; what is outside the record is the service's.
    mutating func apply(_ action: DownloadLifecycle.Action) {
        switch action {
        case .cancelRetry:
            retryTimer?.cancel()
            retryTimer = nil
        case .discardBytes:
            forgetBytes()
            record.download.attempts = 0
        case .forgetFailures:
            record.download.error = nil
            budget = RetryBudget(furthest: written.byteCount)
            resume = ResumeDecision()
            distrustsMirrors = false
        case .clearError:
            record.download.error = nil
        case .leaveQueue, .stopTransfer, .enterQueue, .startTransfer, .scheduleRetry, .releaseSlot, .announceEnd:
            break
        }
        if record.download.state != .downloading {
            record.download.bytesPerSecond = 0
            record.download.stalled = false
        }
    }

    /// Forgets the hash of bytes that are given up.
    mutating func restartHash() {
        hasher = Self.hasher(for: record)
        mirrorDigests = []
    }

    /// What the whole file has to match: what the client said, and the origin.
    var expectedDigests: [Checksum] {
        // What has been published has been checked, and the record may be behind: of a version before.
        isPublished ? [record.download.checksum].compactMap(\.self) : Self.expectedDigests(record) + mirrorDigests
    }

    private static func expectedDigests(_ record: DownloadRecord) -> [Checksum] {
        [record.download.checksum, record.entity?.digest].compactMap(\.self)
    }

    private static func hasher(for record: DownloadRecord) -> StreamingHasher {
        StreamingHasher(expectedDigests(record).map(\.algorithm))
    }

    /// Gives up the partial bytes and what was learnt of their entity.
    mutating func forgetBytes() {
        written = Coverage()
        part = nil
        disownsBytes = true
        published = nil
        record.entity = nil
        record.segments = []
        restartHash()
        record.download.bytesReceived = 0
        record.download.bytesTotal = nil
        record.download.mediaType = nil
        record.download.resumable = nil
        record.download.filename = record.requestedFilename
    }

    /// Notes that these bytes of the part file are on the disk.
    mutating func noteSynced(_ synced: Coverage) {
        record.segments = synced.segments(total: record.download.bytesTotal)
    }
}
