package import DownloadCore

/// The prepared statements of a SQLite database. They write changes in transactions and read rows. One thread at a time may
/// use them, like their connection.
package final class SQLiteStatements {
    private let connection: SQLiteConnection
    private let save: SQLiteStatement
    private let progress: SQLiteStatement
    private let remove: SQLiteStatement
    private let set: SQLiteStatement
    private let unset: SQLiteStatement
    private let remember: SQLiteStatement
    private let forget: SQLiteStatement
    private let keepDelivery: SQLiteStatement
    private let dropDelivery: SQLiteStatement
    private let saveSubscription: SQLiteStatement
    private let removeSubscription: SQLiteStatement
    private let saveItem: SQLiteStatement
    private let dropItem: SQLiteStatement
    private let insertEvent: SQLiteStatement
    private let trimEvents: SQLiteStatement
    /// Whether there may be items of removed subscriptions.
    private var mayHaveOrphans = true

    package init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        save = try connection.prepare(DownloadRow.saveStatement)
        progress = try connection.prepare(
            "UPDATE downloads SET bytes_received = ?2, synced_segments = ?3, fingerprints = ?4 WHERE id = ?1")
        remove = try connection.prepare("DELETE FROM downloads WHERE id = ?1")
        set = try connection.prepare("REPLACE INTO settings (name, value) VALUES (?1, ?2)")
        unset = try connection.prepare("DELETE FROM settings WHERE name = ?1")
        remember = try connection.prepare(IdempotencyRow.saveStatement)
        forget = try connection.prepare("DELETE FROM idempotency_keys WHERE key = ?1")
        keepDelivery = try connection.prepare(DeliveryRow.saveStatement)
        dropDelivery = try connection.prepare("DELETE FROM webhook_deliveries WHERE id = ?1")
        saveSubscription = try connection.prepare(SubscriptionRow.saveStatement)
        removeSubscription = try connection.prepare("DELETE FROM subscriptions WHERE id = ?1")
        saveItem = try connection.prepare(ItemRow.saveStatement)
        dropItem = try connection.prepare("DELETE FROM subscription_items WHERE subscription = ?1 AND key = ?2")
        insertEvent = try connection.prepare(EventHistoryRow.insertStatement)
        trimEvents = try connection.prepare(EventHistoryRow.trimStatement)
    }

    /// Commits all changes durably, or none.
    package func commit(_ changes: [StoreChange]) throws(StoreError) {
        do {
            try connection.transaction { () throws(SQLiteError) in
                for change in changes { try apply(change) }
                if changes.contains(where: \.extendsHistory) { try trimEvents.run() }
            } failure: {
                $0
            }
        } catch {
            throw error.storeError
        }
    }

    /// Removes some items of removed subscriptions. Without any, shortens the file if much of it is free.
    /// - Returns: Whether there is more to do.
    func tidy() throws(StoreError) -> Bool {
        try StoreError.translating {
            if mayHaveOrphans {
                try connection.execute(ItemRow.dropOrphansStatement)
                mayHaveOrphans = try connection.number("SELECT changes()") > 0
                return true
            }
            let free = try connection.number("PRAGMA freelist_count")
            guard try free > max(Self.fewPages, connection.number("PRAGMA page_count") / 8) else { return false }
            try connection.execute("PRAGMA incremental_vacuum(\(Self.pagesPerStep))")
            return try connection.number("PRAGMA freelist_count") < free
        }
    }

    /// The number of free pages that the file keeps for new rows.
    private static let fewPages: Int64 = 1_024
    /// The number of pages by which a step shortens the file.
    private static let pagesPerStep = 256

    /// Moves all pages of the log into the file, so that the next transaction starts a new log.
    /// - Returns: Whether the log had pages, and all of them were moved.
    func emptyLog() -> Bool {
        // The row has three columns: whether a lock prevented it, the pages of the log, and the pages that were moved.
        guard let row = try? connection.prepare("PRAGMA wal_checkpoint(PASSIVE)"), (try? row.step()) == true else { return false }
        return row.integer(1) ?? 0 > 0 && row.integer(2) == row.integer(1)
    }

    private func apply(_ change: StoreChange) throws(SQLiteError) {
        switch change {
        case .add(let record), .save(let record): try save.run(record, DownloadRow.encode)
        case .progress(let value):
            try progress.bind(1, value.id.description)
            try progress.bind(2, value.bytesReceived)
            try progress.bind(3, DownloadRow.encode(value.segments))
            try progress.bind(4, DownloadRow.encodeFingerprints(of: value.segments))
            try progress.run()
        case .remove(let id, let changeID):
            let id = id.description
            try remove.run(id)
            try insertEvent.run((changeID, id), EventHistoryRow.encode)
        case .set(let name, let value?): try set.run(name, value)
        case .set(let name, nil): try unset.run(name)
        case .probe:
            // Writes the file's first page, with any contents.
            try connection.execute("PRAGMA user_version = \(StoreSchema.version)")
        case .remember(let record): try remember.run(record, IdempotencyRow.encode)
        case .forget(let key): try forget.run(key)
        case .keepDelivery(let delivery): try keepDelivery.run(delivery, DeliveryRow.encode)
        case .dropDelivery(let id): try dropDelivery.run(id.description)
        case .subscription(.save(let subscription)): try saveSubscription.run(subscription, SubscriptionRow.encode)
        case .subscription(.remove(let id)):
            try removeSubscription.run(id.description)
            // Its items may be many. The first are removed now, and the others by ``tidy()``.
            try connection.execute(ItemRow.dropOrphansStatement)
            mayHaveOrphans = true
        case .subscription(.saveItem(let item)): try saveItem.run(item, ItemRow.encode)
        case .subscription(.dropItem(let id, let key)): try dropItem.run(id.description, key)
        // A service without a fleet has no replicas to notify, and owns all downloads.
        case .fleet, .subscription(.requireClaim), .subscription(.endClaim): break
        case .beginEpoch(let epoch): try insertEvent.run((EventID(epoch: epoch, sequence: 0), nil), EventHistoryRow.encode)
        }
    }

    /// Repairs a refused row. Columns with impossible values get safe ones. The row is removed if it cannot be
    /// repaired, or if another row has its id.
    package func mend(_ row: RefusedRow) throws(StoreError) {
        try StoreError.translating {
            let mended = row.table == .downloads ? try mendedRecord(row.key) : nil
            let removal = try connection.prepare("DELETE FROM \(row.table.rawValue) WHERE \(row.table.condition)")
            try removal.bind(row.key)
            let insertion = try connection.prepare(DownloadRow.insertStatement)
            try connection.transaction { () throws(SQLiteError) in
                try removal.run()
                if let mended { try insertion.run(mended, DownloadRow.encode) }
            } failure: {
                $0
            }
        }
    }

    private func mendedRecord(_ key: RefusedRow.Key) throws(SQLiteError) -> DownloadRecord? {
        var reader = DownloadRow.Reader(mending: true)
        let rows = try connection.prepare(DownloadRow.findRefusedStatement)
        try rows.bind(key)
        guard try rows.step(), var record = try? reader.record(from: rows) else { return nil }
        if record.download.state == .failed, record.download.error == nil {
            record.download.error = DownloadFailure(.ioError, "the record was found damaged, and repaired")
            // It may have counted as a completed download.
            record.download.bytesReceived = Coverage(record.segments).byteCount
            (record.download.sha256Bytes, record.download.file, record.download.fileMissing) = (nil, nil, false)
        }
        return record
    }

    /// Returns the rows of webhook deliveries that cannot be decoded.
    package func refusedDeliveries() throws(StoreError) -> [RefusedRow] {
        try StoreError.translating {
            var contents = StoredContents()
            let rows = try connection.prepare(DeliveryRow.loadStatement)
            while try rows.step() {
                try contents.reading(.deliveries, rows.key(0)) { _ throws(StoreError) in _ = try DeliveryRow.delivery(from: rows)
                }
            }
            return contents.refused
        }
    }

    /// Reads everything except webhook deliveries. Records are in order of creation.
    /// - Parameter open: Opens another connection, over which a second thread reads half of the records; `nil` for none.
    package func load(beside open: (@Sendable () throws -> SQLiteConnection)? = nil) throws(StoreError) -> StoredContents {
        try StoreError.translating {
            var contents = try RecordReader(connection: connection).read(beside: open)
            let events = try connection.prepare(EventHistoryRow.loadStatement)
            while try events.step() {
                try contents.reading(.events, events.key(3)) { contents throws(StoreError) in
                    try EventHistoryRow.read(events, into: &contents.events)
                }
            }
            try contents.readOthers(by: self)
            // The pages that were read are not needed again.
            try connection.execute("PRAGMA shrink_memory")
            return contents
        }
    }
}

extension SQLiteStatements: StoreReader {
    package var dialect: StoreDialect { StoreDialect() }

    package func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (SQLiteStatement) throws -> Void
    ) throws(StoreError) {
        try StoreError.translating {
            let statement = try connection.prepare(sql)
            for parameters in parameters {
                statement.reset()
                for (index, parameter) in parameters.enumerated() { try statement.bind(Int32(clamping: index + 1), parameter) }
                while try statement.step() { try each(statement) }
            }
        }
    }
}

extension StoreChange {
    /// Whether the change adds an event to the kept ones. The oldest of them are then removed.
    fileprivate var extendsHistory: Bool {
        switch self {
        case .remove, .beginEpoch: true
        default: false
        }
    }
}
