internal import HTTPCore

/// The durable records of downloads. Implementations are safe to use from any thread.
protocol RecordStore: Sendable {
    /// Reads all records, in order of creation, and everything else that is kept. Called once, before any write.
    func load() throws(StoreError) -> StoredContents

    /// Returns the last durable versions of the records with these ids. Ids without a record are left out.
    func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord]

    /// Returns a page of the webhook deliveries of this service whose ids are at least `id` and whose URLs are wanted.
    func deliveries(
        from id: DownloadID, if isWanted: @escaping @Sendable (String) -> Bool
    ) async throws(StoreError) -> DeliveryPage

    /// Submits changes without waiting. Calls take effect in their order, and the changes of one call are atomic. They
    /// survive a crash and power loss once the commit succeeds.
    func submit(_ changes: [StoreChange]) -> StoreCommit

    /// Notes progress without waiting. A later note for the same download replaces an earlier one that is not yet
    /// written. Notes are written with the next group, at the latest when the store closes. They are lost if that write
    /// fails.
    func note(_ progress: StoredProgress)

    /// Whether new changes would wait longer than a client should, because the disk hangs or is too slow.
    var isCongested: Bool { get }

    /// The time since the last response of a database that replicas share; `nil` if the records are in a local file.
    var silence: Duration? { get }

    /// Writes the outstanding changes and closes the store. Later calls fail with `StoreError.closed`.
    func close() async
}

extension RecordStore {
    var isCongested: Bool { false }
    var silence: Duration? { nil }
}

/// Everything that a store holds at the start.
struct StoredContents: Sendable {
    var records: [DownloadRecord] = []
    var settings: [String: String] = [:]
    /// The idempotency records, oldest first.
    var idempotencyRecords: [IdempotencyRecord] = []
    var events = StoredEventHistory()
    /// Rows with values that no release writes. They are left unchanged.
    var refused: [RefusedRow] = []
    /// Additional contents for a replica of a fleet; `nil` without a fleet.
    var fleet: FleetContents?

    /// The setting that holds the trusted time, in milliseconds since 1970. It exists while the wall clock is ahead of
    /// that time.
    static let trustedTimeName = "trustedTime"

    /// The newest time that an earlier run has recorded; `nil` if there are no records.
    var lastKnownTime: Timestamp? {
        if let kept = settings[Self.trustedTimeName].flatMap({ Int64($0) }) { return Timestamp(millisecondsSinceEpoch: kept) }
        var newest = idempotencyRecords.last?.createdAt
        for record in records { newest = max(newest ?? record.download.updatedAt, record.download.updatedAt) }
        return newest
    }
}

/// One change to the stored data.
enum StoreChange: Sendable {
    /// Inserts the record of a new download. It is refused when the remaining room is reserved for changes to existing
    /// records.
    case add(DownloadRecord)
    /// Inserts the record, or replaces the record with the same id.
    case save(DownloadRecord)
    /// Replaces only the byte counter and the segments. Has no effect if the record does not exist.
    case progress(StoredProgress)
    /// Deletes the record, and keeps the removal with its event id.
    case remove(DownloadID, stamp: EventID)
    /// Sets a setting, or deletes it if the value is `nil`.
    case set(name: String, value: String?)
    /// Writes something that is never read. Its success shows that the store accepts new records.
    case probe
    /// Keeps the outcome of a request with an idempotency key, in place of an earlier one.
    case remember(IdempotencyRecord)
    /// Deletes the outcome of the request with this key.
    case forget(String)
    /// Keeps a webhook delivery until it succeeds, in place of its earlier state.
    case keepDelivery(WebhookDelivery)
    /// Deletes a delivery that has succeeded or was abandoned.
    case dropDelivery(DownloadID)
    /// Keeps the epoch with which a run of the service begins.
    case beginEpoch(UInt64)
    /// Publishes a download to all replicas of a fleet. A changed record is saved by a change of its own.
    case show(Download)
    /// Adds a download of this replica to the fleet's queue.
    case enqueue(DownloadID)
    /// Removes a download from the queue, or releases its slot.
    case leaveQueue(DownloadID)
    /// Makes a new download the one that later requests for its URL receive. The write is refused if there already is
    /// one.
    case holdURL(DownloadID)
    /// Releases a download, so that any replica may acquire it.
    case letGo(DownloadID)
    /// Requests slots, with the state after all changes before this one.
    case claim(TurnClaim)
    /// Sends a message with remote commands or replies to the instance `to`.
    case send(String, to: Int64)
}

/// The durable progress of a download.
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
