internal import HTTPCore

/// Where records are kept. Implementations are safe to call from anywhere.
protocol RecordStore: Sendable {
    /// Everything there is, records in order of creation. Called once, before any write.
    func load() throws(StoreError) -> StoredContents

    /// The records with these identities, as they were last made durable; those that there are none of are left out.
    func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord]

    /// A page of the messages to webhooks that this service has to deliver, from an identity on: those with a wanted URL.
    func deliveries(
        from id: DownloadID, if isWanted: @escaping @Sendable (String) -> Bool
    ) async throws(StoreError) -> DeliveryPage

    /// Takes changes in the order of its calls, without waiting. They apply together or not at all; when the commit has
    /// succeeded they survive a crash and power loss.
    func submit(_ changes: [StoreChange]) -> StoreCommit

    /// Notes progress without waiting. A later note for the same download replaces an earlier one that has not been written
    /// yet; it is written with the next group, at the latest when the store closes, and lost if that fails.
    func note(_ progress: StoredProgress)

    /// Whether what is submitted now would have to wait longer than a client should: the disk hangs, or does not keep up.
    var isCongested: Bool { get }

    /// This one, if other replicas use the same records.
    var fleet: FleetStore? { get }

    /// Writes what is outstanding and closes. Everything after it fails with `StoreError.closed`.
    func close() async
}

extension RecordStore {
    var isCongested: Bool { false }
    var fleet: FleetStore? { nil }
}

/// What a store had kept.
struct StoredContents: Sendable {
    var records: [DownloadRecord] = []
    var settings: [String: String] = [:]
    /// What became of requests with a key, the oldest first.
    var idempotencyRecords: [IdempotencyRecord] = []
    var events = StoredEventHistory()
    /// Rows that hold what was never written there. They are left as they are.
    var refused: [RefusedRow] = []
    /// What a replica of a fleet needs besides.
    var fleet: FleetContents?

    /// The setting that holds the trusted time in milliseconds since 1970, while the clock on the wall is ahead of it.
    static let trustedTimeName = "trustedTime"

    /// The newest time that earlier runs have recorded; `nil`: there are no records.
    var lastKnownTime: Timestamp? {
        if let kept = settings[Self.trustedTimeName].flatMap({ Int64($0) }) { return Timestamp(millisecondsSinceEpoch: kept) }
        var newest = idempotencyRecords.last?.createdAt
        for record in records { newest = max(newest ?? record.download.updatedAt, record.download.updatedAt) }
        return newest
    }
}

/// One change to what is kept.
enum StoreChange: Sendable {
    /// Inserts the record of a new download; refused when there is only room left for changes to what is there.
    case add(DownloadRecord)
    /// Inserts the record, or replaces the one of that identity.
    case save(DownloadRecord)
    /// Replaces only the byte counter and the segments; nothing happens if there is no such record.
    case progress(StoredProgress)
    /// Deletes the record, and keeps that it was removed at this stamp.
    case remove(DownloadID, stamp: EventID)
    /// Sets or, with `nil`, deletes a setting.
    case set(name: String, value: String?)
    /// Changes nothing that is ever read, but has to be written: it shows whether the store takes new records.
    case probe
    /// Keeps what became of a request with a key, in place of an earlier one.
    case remember(IdempotencyRecord)
    /// Deletes what became of the request with this key.
    case forget(String)
    /// Keeps a message to a webhook until it is delivered, in place of what was known of it before.
    case keepDelivery(WebhookDelivery)
    /// Deletes a message that has been delivered or given up.
    case dropDelivery(DownloadID)
    /// Keeps that a run of the service has begun, which this names.
    case beginEpoch(UInt64)
    /// Tells the other replicas of a fleet how a download stands. Its record is saved besides, if that has changed.
    case show(Download)
    /// A download that this replica owns waits for its turn.
    case enqueue(DownloadID)
    /// It waits no longer, or gives its turn back.
    case leaveQueue(DownloadID)
    /// A new download is the one that others are given who ask for its URL, unless there is such a one: then the write is refused.
    case holdURL(DownloadID)
    /// Any replica may have it from now on.
    case letGo(DownloadID)
    /// Asks for turns, as everything stands with the changes before it.
    case claim(TurnClaim)
    /// A letter to another replica.
    case send(String, to: Int64)
}

/// How far a download has come, as far as it is on disk.
struct StoredProgress: Sendable, Equatable {
    var id: DownloadID
    var bytesReceived: Int64
    var segments: [SyncedSegment]

    init(id: DownloadID, bytesReceived: Int64, segments: [SyncedSegment]) {
        self.id = id
        self.bytesReceived = bytesReceived
        self.segments = segments
    }
}
