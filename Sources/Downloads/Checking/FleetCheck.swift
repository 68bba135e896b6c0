public import DownloadCore
internal import DownloadFiles
internal import DownloadStore
public import HTTPClient
internal import HTTPCore
public import ObjectStorage
internal import System

/// Compares the records of a fleet with the objects in its storage, and repairs what it can. Replicas may run beside it.
///
/// Objects are listed, and read only by a deep check: their SHA-256 was checked when they were stored. Objects without a record are ignored
/// for a day, because their upload may be under way.
public final class FleetCheck {
    /// The minimum age of an object without a record to count as an orphan.
    var orphanAge = ObjectCollector.sweepAge
    private let store: FleetStore
    private let storage: ObjectStorage
    private var isDeep = false

    /// Joins the fleet, so that repairs are written like changes of a replica.
    /// - Throws: One clear line if the database has no fleet or is unreachable.
    public init(
        database: String, objects: (location: ObjectLocation, credentials: ObjectCredentials), client: HTTPClient
    ) throws(DownloadsStartError) {
        var random = SystemRandom()
        var options = PostgresRecordWriter.Options(
            database: database, node: "check \(UInt64.random(in: 0 ... .max, using: &random))")
        // A misspelt name must not create a new fleet.
        options.isFounding = false
        do throws(StoreError) {
            store = try FleetStore(options)
        } catch {
            throw DownloadsStartError(error.description)
        }
        storage = ObjectStorage(objects.location, credentials: objects.credentials, client: client)
    }

    /// Checks all records and objects, and leaves the fleet. To be called once.
    /// - Parameters:
    ///   - repairing: Whether faults are repaired, as far as possible.
    ///   - deep: Whether all objects are read, to compare their SHA-256 with the records.
    ///   - onFault: Receives each fault as it is found.
    /// - Throws: One clear line if something cannot be read or written.
    public func run(
        repairing: Bool, deep: Bool = false, onFault: (DirectoryFault) -> Void = { _ in }
    ) async throws(DownloadsStartError) -> DirectoryReport {
        isDeep = deep
        var report = DirectoryReport()
        let failure: DownloadsStartError?
        do {
            // The records are read first: the object of a download that completes after this is checked again later.
            let contents = try store.load()
            // A misspelt location must not make all files count as lost.
            guard let owner = contents.fleet?.owner else { throw DownloadsStartError("the database has no fleet") }
            let ownership = try await storage.ownership(for: owner.name, noting: owner.database)
            if ownership == .unowned { throw DownloadsStartError("--files: no fleet has its files there") }
            if let objection = ObjectPlace.objection(to: ownership, for: owner) {
                throw DownloadsStartError("--files: \(objection)")
            }
            let records = Array(contents.records)
            report.records = records.count
            for row in contents.refused {
                let detail = "pawl.\(row.table.rawValue): \(row.reason)"
                let fault = DirectoryFault(.refusedRecord, row.id, detail, isRepairable: false)
                report.faults.append(fault)
                onFault(fault)
            }
            let objects = try await listed()
            report.files = objects.count
            for record in records where record.download.state == .completed {
                try await check(record, objects, repairing, &report, onFault)
            }
            // An object whose record has just been repaired is no second fault.
            let named = Set(records.compactMap { record in record.download.file.flatMap { ObjectKey(record.id, $0) } })
            try await checkOrphans(objects.filter { !named.contains($0.key) }, repairing, &report, onFault)
            failure = nil
        } catch {
            failure = DownloadsStartError("\(error)")
        }
        try? await store.retire(leaving: true)
        await store.close()
        if let failure { throw failure }
        return report
    }

    private func listed() async throws(ObjectStorageError) -> [ObjectKey: ObjectPage.Item] {
        var objects: [ObjectKey: ObjectPage.Item] = [:]
        var last: String?
        repeat {
            let page = try await storage.list(after: last)
            for item in page.items { if let key = ObjectKey(item.key) { objects[key] = item } }
            last = page.next
        } while last != nil
        return objects
    }

    private func check(
        _ record: DownloadRecord, _ objects: [ObjectKey: ObjectPage.Item], _ repairs: Bool, _ report: inout DirectoryReport,
        _ onFault: (DirectoryFault) -> Void
    ) async throws {
        let listed = record.download.file.flatMap { ObjectKey(record.id, $0) }.flatMap { objects[$0]?.length }
        let inspection = try await inspect(record, length: listed)
        report.bytes += inspection.evidence.sha256 == nil ? 0 : inspection.evidence.file?.size ?? 0
        if record.download.fileMissing, listed == nil { report.missing += 1 }
        guard inspection.fault != nil else { return }
        // The record may have been removed or changed since.
        guard let now = try await store.records([record.id]).first, let fault = try await inspect(now).fault else { return }
        report.faults.append(fault)
        onFault(fault)
        if repairs, try await repair(record.id) { report.repaired += 1 }
    }

    /// Inspects a record with an object of this length; `nil`: there is none.
    private func inspect(_ record: DownloadRecord, length: Int64?) async throws -> RecordInspection {
        var evidence = RecordInspection.Evidence()
        evidence.isObject = true
        if let length, let file = record.download.file {
            evidence.file = FileIdentity(device: file.device, inode: file.inode, size: length, modified: file.modified)
        }
        let inspection = RecordInspection(record: record, evidence: evidence)
        guard isDeep, inspection.needsHash, let length, let key = record.download.file.flatMap({ ObjectKey(record.id, $0) })
        else { return inspection }
        evidence.sha256 = try await storage.sha256(of: key.description, length: length)
        return RecordInspection(record: record, evidence: evidence)
    }

    private func inspect(_ record: DownloadRecord) async throws -> RecordInspection {
        let key = record.download.file.flatMap { ObjectKey(record.id, $0) }
        var length: Int64?
        if let key { length = try await storage.head(key.description)?.length }
        return try await inspect(record, length: length)
    }

    /// Repairs a record, unless a replica owns the download.
    /// - Returns: Whether the record is correct now.
    private func repair(_ id: RecordID) async throws -> Bool {
        guard let record = try await store.take([id]).records.first else { return false }
        let inspection = try await inspect(record)
        var changes: [StoreChange] = [.fleet(.release(id))]
        if inspection.fault != nil {
            let repaired = inspection.repaired(at: .now())
            changes = [.save(repaired), .fleet(.publishVersion(repaired.download)), .fleet(.release(id))]
        }
        try await store.submit(changes).wait()
        return true
    }

    private func checkOrphans(
        _ objects: [ObjectKey: ObjectPage.Item], _ repairs: Bool, _ report: inout DirectoryReport,
        _ onFault: (DirectoryFault) -> Void
    ) async throws {
        let age = Int64(orphanAge / .milliseconds(1))
        let limit = Timestamp(millisecondsSinceEpoch: storage.now.millisecondsSinceEpoch - age)
        let old = objects.filter { $0.value.lastModified <= limit }.keys.map(\.description).sorted()
        var count = 0
        for start in stride(from: 0, to: old.count, by: 1000) {
            for key in try await store.unnamed(Array(old[start..<min(start + 1000, old.count)])) {
                let fault = DirectoryFault(.orphan, nil, "object \(key) belongs to no download")
                report.faults.append(fault)
                onFault(fault)
                count += 1
            }
        }
        guard repairs else { return }
        let collector = ObjectCollector(fleet: store, storage: storage, isOwn: { true }, now: { [storage] in storage.now }) { _ in
        }
        let gone = try await collector.sweepOnce(olderThan: orphanAge)
        report.repaired += min(gone, count)
    }
}
