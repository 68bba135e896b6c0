import Foundation
import HTTPCore
import System
import TestSupport

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore

/// The kinds of stores.
enum StoreKind: CaseIterable {
    case sqlite, postgres

    /// The kinds that can be tested here.
    static var available: [StoreKind] { PrivatePostgres.isWanted ? allCases : [.sqlite] }
}

/// A data directory or a database for one test, and its stores.
final class StoreScene {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    /// Nil if records are in the directory.
    private let database: TestDatabase?

    init(_ kind: StoreKind = .sqlite) throws {
        temporary = try TemporaryDirectory()
        database = kind == .postgres ? try PrivatePostgres.database() : nil
    }

    /// - Parameter maximumPages: the maximum size of the file, if it is one.
    func open(
        _ options: GroupCommitOptions = GroupCommitOptions(), maximumPages: Int? = nil
    ) throws -> any RecordStore {
        if let database { return try FleetStore(replica(path, database), committer: options) }
        return try GroupCommitStore(SQLiteRecordWriter(DataDirectory(path: path), maximumPages: maximumPages), options: options)
    }

    /// A store that accepts new records while it is told that there is room.
    func open(whileRoom hasRoom: Locked<Bool>) throws -> any RecordStore {
        if let database { return try GroupCommitStore(RoomyWriter(PostgresRecordWriter(replica(path, database)), hasRoom)) }
        return try GroupCommitStore(RoomyWriter(SQLiteRecordWriter(DataDirectory(path: path)), hasRoom))
    }

    private func replica(_ node: String, _ database: TestDatabase) -> PostgresRecordWriter.Options {
        PostgresRecordWriter.Options(database: database.conninfo, node: node, limit: .seconds(60))
    }

    /// The contents of the files at this moment, as a crash would leave them: read from a copy of the file and its log.
    /// Of a database, the contents for another replica.
    func contentsAfterCrash() throws -> StoredContents {
        if let database {
            let other = try PostgresRecordWriter(replica(UUID().uuidString, database))
            defer { other.close() }
            return try other.load()
        }
        return try GroupCommitStore(DataDirectory(path: copy())).load()
    }

    /// The first page of the webhook messages that another instance would find if this one ended now.
    func deliveriesAfterCrash() throws -> [WebhookDelivery] {
        try SQLiteRecordWriter(DataDirectory(path: copy())).deliveries(from: RecordID(value: 0)) { _ in true }.deliveries
    }

    private func copy() throws -> String {
        let copy = temporary.path + "/copy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in ["pawl.sqlite", "pawl.sqlite-wal"] where FileManager.default.fileExists(atPath: path + "/" + name) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy + "/" + name)
        }
        return copy
    }
}

/// A writer that has room on demand.
final class RoomyWriter<Writer: RecordWriter>: RecordWriter {
    private let writer: Writer
    private let hasRoom: Locked<Bool>

    init(_ writer: sending Writer, _ hasRoom: Locked<Bool>) {
        self.writer = writer
        self.hasRoom = hasRoom
    }

    func load() throws(StoreError) -> StoredContents { try writer.load() }
    var dialect: StoreDialect { writer.dialect }
    func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (Writer.Row) throws -> Void
    ) throws(StoreError) {
        try writer.rows(name, sql, parameters, each)
    }
    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        try writer.commit(changes, isRepeated: isRepeated)
    }
    func reserveRoom() -> Bool { hasRoom.withLock { $0 } }
    var longestSilence: Duration? { writer.longestSilence }
    func close() { writer.close() }
}

extension RecordStore {
    /// Makes the changes durable.
    func write(_ changes: [StoreChange]) async throws(StoreError) {
        try await submit(changes).wait()
    }

    func items(_ query: ItemQuery) async throws(StoreError) -> [StoredItem] { try await read { try $0.items(query) } }

    /// Makes one record durable.
    func save(_ record: DownloadRecord) async throws(StoreError) {
        try await write([.save(record)])
    }
}

/// Records for tests: the number decides everything.
func sampleRecord(_ number: Int, state: DownloadState = .queued) -> DownloadRecord {
    let id = RecordID(value: UInt128(1_763_717_520_000 + UInt64(number)) << 80 | UInt128(number))
    var download = Download(id: id, url: "https://example.com/files/\(number).bin", state: state, createdAt: id.createdAt)
    if state == .completed { download.filename = "\(number).bin" }
    if !state.isLive { download.endedAt = download.updatedAt }
    return DownloadRecord(download)
}

/// A record with a distinct value in every column.
func fullRecord(_ number: Int = 1) -> DownloadRecord {
    var record = sampleRecord(number, state: .retrying)
    record.download.filename = "ünï ‘1’.bin"
    record.download.folder = "müsic/a b"
    record.download.mediaType = "audio/mp4"
    record.download.bytesReceived = 123
    record.download.bytesTotal = .max
    record.download.resumable = true
    record.download.fileMissing = true
    record.download.file = FileIdentity(device: 1, inode: .max, size: 123, modified: -4)
    record.download.segments = 3
    record.download.attempts = 4
    record.download.error = DownloadFailure(.httpStatus, "503 Service Unavailable", httpStatus: 503, retryable: true)
    record.download.checksum = Checksum(.sha256, bytes: Array(0..<32))
    record.download.sha256Bytes = Array((0..<32).reversed())
    record.download.priority = -7
    record.download.arrival = RecordID(value: 1 << 125)
    record.download.chosenGID = DownloadGID(.max - UInt64(number))
    record.partGeneration = .max - UInt64(number)
    record.transferCrashes = 2
    record.distrustsMirrors = true
    record.retryHold = RetryHold(until: Timestamp(millisecondsSinceEpoch: 9_007), length: .milliseconds(7))
    record.download.labels = ["a", "b \"c\"", "\u{1F3B5}"]
    record.download.speedLimit = 9_999
    record.download.timeouts = Timeouts(connect: 0, stall: 86_400)
    record.download.remoteTime = false
    record.download.retry = RetryChoice(attempts: RetryChoice.forEver, longestDelay: 7, statuses: [404])
    record.download.track = Array(#"{"name":"x"}"#.utf8)
    record.download.trackName = "x"
    record.download.createdAt = Timestamp(millisecondsSinceEpoch: 1)
    record.download.startedAt = Timestamp(millisecondsSinceEpoch: 2)
    record.download.updatedAt = Timestamp(millisecondsSinceEpoch: 3)
    record.download.endedAt = Timestamp(millisecondsSinceEpoch: 4)
    record.download.revision = 1 << 61
    record.download.changeID = EventID(epoch: 1_763_717_520_000, sequence: 12)
    record.requestedFilename = "mine.bin"
    record.requestedMediaType = "audio/*"
    record.requestedSegments = 6
    record.headers = [RequestHeader(name: "Authorization", value: "Bearer s3cret"), RequestHeader(name: "X-Empty", value: "")]
    record.mirrors = ["https://mirror.example/1", "https://mirror.example/2"]
    record.announcedMirrors = ["https://announced.example/1"]
    record.webhook = "https://hook.example/"
    record.entity = SavedEntity(
        etag: FieldValue(bytes: [0x22] + Array(UInt8(0x80)...0xff) + [0x22]), lastModified: "Sat, 21 Nov 2026 09:00:00 GMT",
        date: "Sat, 21 Nov 2026 10:00:00 GMT", total: 1_000,
        coding: "gzip", source: "https://mirror.example/2", digest: Checksum(.sha512, bytes: Array(0..<64)))
    record.segments = [
        SyncedSegment(start: 0, end: 500, synced: 100, fingerprint: Fingerprint(.max - UInt64(number))),
        SyncedSegment(start: 500, end: nil, synced: 523, fingerprint: Fingerprint(UInt64(number))),
    ]
    return record
}

/// Everything of a record as text, for comparison member by member.
func portrait(_ record: DownloadRecord) -> [String: String] {
    let download = record.download
    return [
        "id": "\(download.id)", "url": download.url, "state": download.state.rawValue,
        "filename": "\(String(describing: download.filename)) in \(download.folder)",
        "mediaType": "\(String(describing: download.mediaType))",
        "bytes": "\(download.bytesReceived)/\(String(describing: download.bytesTotal))",
        "resumable": "\(String(describing: download.resumable))", "fileMissing": "\(download.fileMissing)",
        "file": "\(String(describing: download.file))", "segments": "\(download.segments)", "attempts": "\(download.attempts)",
        "error": "\(String(describing: download.error))", "checksum": "\(String(describing: download.checksum))",
        "sha256": "\(String(describing: download.sha256))", "priority": "\(download.priority)", "labels": "\(download.labels)",
        "speedLimit": "\(download.speedLimit)", "timeouts": "\(download.timeouts)", "retry": "\(download.retry)",
        "remoteTime": "\(String(describing: download.remoteTime))", "announced": "\(record.announcedMirrors)",
        "rank": "\(download.rank)", "gid": "\(download.gid)",
        "track": "\(String(describing: download.track)) \(String(describing: download.trackName))",
        "createdAt": "\(download.createdAt.millisecondsSinceEpoch)",
        "startedAt": "\(String(describing: download.startedAt?.millisecondsSinceEpoch))",
        "updatedAt": "\(download.updatedAt.millisecondsSinceEpoch)",
        "endedAt": "\(String(describing: download.endedAt?.millisecondsSinceEpoch))",
        "revision": "\(download.revision)", "stamp": "\(download.changeID)",
        "requestedFilename": "\(String(describing: record.requestedFilename))",
        "requestedMediaType": "\(String(describing: record.requestedMediaType))",
        "requestedSegments": "\(String(describing: record.requestedSegments))",
        "headers": record.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "&"), "mirrors": "\(record.mirrors)",
        "webhook": "\(String(describing: record.webhook))", "entity": "\(String(describing: record.entity))",
        "synced": "\(record.segments)",
    ]
}
