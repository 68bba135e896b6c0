package import DownloadCore
package import HTTPCore

/// The durable records of downloads. Implementations are safe to use from any thread.
package protocol RecordStore: Sendable {
    /// Reads all records, in order of creation, and everything else that is kept. Called once, before any write.
    func load() throws(StoreError) -> StoredContents

    /// Runs the body with a reader, after the writes that are already submitted. A fleet runs it again if the database
    /// interrupts it.
    /// - Parameter ids: The downloads whose noted progress is written first.
    func read<Value: Sendable>(
        noting ids: [RecordID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value

    /// Submits changes without waiting. Calls take effect in their order, and the changes of one call are atomic. They
    /// survive a crash and power loss once the commit succeeds.
    /// - Parameter isAwaited: Whether a client waits for the commit. Other commits may be delayed by milliseconds, so
    ///   that they share a transaction.
    func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit

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
    /// Submits changes that a client waits for.
    package func submit(_ changes: [StoreChange]) -> StoreCommit { submit(changes, isAwaited: true) }

    /// Runs the body with a reader, after the writes that are already submitted.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        try await read(noting: [], body)
    }

    /// Returns the last durable versions of the records with these ids. Ids without a record are left out.
    package func records(_ ids: [RecordID]) async throws(StoreError) -> [DownloadRecord] {
        try await read(noting: ids) { try $0.records(ids) }
    }

    package var isCongested: Bool { false }
    package var silence: Duration? { nil }
}

/// Everything that a store holds at the start.
package struct StoredContents: Sendable {
    /// The records, in order of creation. Each thread that reads them makes an array; joining these would copy every record.
    package var recordParts: [[DownloadRecord]] = []
    package var settings: [String: String] = [:]
    /// The idempotency records, oldest first.
    package var idempotencyRecords: [IdempotencyRecord] = []
    /// The subscriptions, oldest first.
    package var subscriptions: [StoredSubscription] = []
    package var events = StoredEventHistory()
    /// Rows with values that no release writes. They are left unchanged.
    package var refused: [RefusedRow] = []
    /// Additional contents for a replica of a fleet; `nil` without a fleet.
    package var fleet: FleetContents?

    /// The setting that holds the trusted time, in milliseconds since 1970. It exists while the wall clock is ahead of
    /// that time.
    package static let trustedTimeName = "trustedTime"

    /// The setting that holds the service's secret, in hexadecimal digits.
    package static let secretName = "secret"

    /// The newest time that an earlier run has recorded; `nil` if there are no records.
    package var lastKnownTime: Timestamp? {
        if let kept = settings[Self.trustedTimeName].flatMap({ Int64($0) }) { return Timestamp(millisecondsSinceEpoch: kept) }
        var newest = idempotencyRecords.last?.createdAt
        for part in recordParts {
            // A loop over the records would copy each.
            for index in part.indices { newest = max(newest ?? part[index].download.updatedAt, part[index].download.updatedAt) }
        }
        return newest
    }

    /// The records, in order of creation.
    package var records: FlattenSequence<[[DownloadRecord]]> { recordParts.joined() }
}
