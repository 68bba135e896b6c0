package import DownloadCore
package import Postgres
internal import System

/// Keeps the records of a fleet in PostgreSQL, together with other replicas. A group of changes is one transaction of
/// a ``PostgresInstance``.
package final class PostgresRecordWriter: RecordWriter {
    /// The database, the data directory, and time limits.
    package struct Options: Sendable {
        /// The connection string of the database, in libpq's format.
        package var database: String
        /// The name of the data directory.
        package var node: String
        /// The time after which an instance that does not renew its lease is declared dead.
        package var lease: Duration = .seconds(15)
        /// Whether a new fleet is created in an empty database.
        package var isFounding = true
        /// The maximum duration of connecting, and of a transaction.
        package var limit: Duration = .seconds(10)
        /// Receives the events to count and to log.
        package var log: @Sendable (DownloadLogEvent) -> Void = { _ in }

        package init(
            database: String, node: String, lease: Duration = .seconds(15), isFounding: Bool = true,
            limit: Duration = .seconds(10), log: @escaping @Sendable (DownloadLogEvent) -> Void = { _ in }
        ) {
            self.database = database
            self.node = node
            self.lease = lease
            self.isFounding = isFounding
            self.limit = limit
            self.log = log
        }
    }

    package let instance: PostgresInstance
    package let changeLog: ChangeLog
    package let ownership: PostgresOwnership
    let subscriptions: PostgresSubscriptions

    /// Whether the changes of the last call are committed, and only the follower lacks them.
    private var isWritten = false
    private var upkeeps = 0

    /// The maximum number of attempts to commit a group that conflicts with another replica's.
    private static let maximumAttempts = 5

    /// Connects, migrates the tables to the schema of this release, and registers an instance. The downloads of an
    /// earlier instance on the same data directory become its own.
    /// - Throws: `StoreError.unreleased`, `.newerSchema`, `.foreign`, `.unavailable`, or an error of PostgreSQL.
    package init(_ options: Options) throws(StoreError) {
        instance = try PostgresInstance(options)
        changeLog = ChangeLog(instance)
        ownership = PostgresOwnership(instance)
        subscriptions = PostgresSubscriptions(instance)
    }

    /// Much shorter than the lease.
    package var longestSilence: Duration? { min(.seconds(2), instance.options.lease / 5) }

    package func reserveRoom() -> Bool { true }

    package func close() {
        instance.close()
    }
}

// MARK: - Writing

extension PostgresRecordWriter {
    package func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        if !isRepeated { isWritten = false }
        if try instance.hasCommitted(isRepeated: isRepeated) { isWritten = true }
        if isWritten {
            return try afterCommit { () throws(StoreError) in
                // The lost response contained the granted downloads.
                for case .fleet(.requestSlots(let request)) in changes { request.grant(try ownership.owned()) }
                try changeLog.follow()
            }
        }
        var group = PostgresGroup(instance: instance.id)
        for change in changes { group.add(change) }
        let results = try transact(group)
        isWritten = true
        for (request, index) in group.slotRequests where results.indices.contains(index) {
            request.grant(instance.records(in: results[index]))
        }
        if group.published.isEmpty { return }
        try afterCommit { () throws(StoreError) in
            try changeLog.deliver(group.published, after: results.last?.rows.first?.integer(0))
        }
    }

    /// Runs the commands of a group.
    ///
    /// A conflict is tried again if the group saves records: another replica may just have made another download the
    /// first of a URL, and a new attempt sees that.
    private func transact(_ group: PostgresGroup) throws(StoreError) -> [PostgresResult] {
        let commands = group.commands
        var attempts = group.savesRecords ? Self.maximumAttempts : 1
        while true {
            attempts -= 1
            do throws(StoreError) {
                return try instance.transact(commands, .changes)
            } catch  where error == .conflict && attempts > 0 {}
        }
    }

    /// Follows the changes after a commit. The commit has succeeded even if an earlier change of another replica cannot
    /// be decoded.
    private func afterCommit(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            switch error {
            case .interrupted, .fenced, .closed: throw error
            default: return
            }
        }
    }

    /// Does the work of each second.
    /// - Parameter progress: Messages about this replica's transfers, for the other replicas.
    func upkeep(telling progress: [String]) {
        do throws(StoreError) {
            _ = try instance.run(progress.map { PostgresCommand(Statements.notifyProgress, [.text($0)]) })
            if try ownership.reap() > 0 { try changeLog.follow() }
            try ownership.adoptDeliveries()
            upkeeps += 1
            // A notification may have been lost.
            if upkeeps % 10 == 0 { try subscriptions.follow() }
            if upkeeps % 60 == 0 {
                _ = try instance.run(Statements.trimming.map { PostgresCommand($0, []) })
            }
        } catch {
            // Tried again in a second.
        }
    }
}

// MARK: - Reading

extension PostgresRecordWriter {
    package var dialect: StoreDialect {
        StoreDialect(schema: "pawl.", isOwn: "owner = \(instance.id)", subscriptionColumns: SubscriptionRow.fleetColumns)
    }

    package func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (PostgresRowDecoder) throws -> Void
    ) throws(StoreError) {
        let statement = PostgresStatement(name, sql)
        let results = try instance.run(parameters.map { PostgresCommand(statement, $0.map(PostgresValue.storable)) })
        try StoreError.translating {
            for result in results { for row in result.rows { try each(PostgresRowDecoder(row: row)) } }
        }
    }

    /// Reads everything as of one moment.
    package func load() throws(StoreError) -> StoredContents {
        var contents = StoredContents()
        var fleet = FleetContents()
        var records: [DownloadRecord] = []
        var reader = DownloadRow.Reader()
        let owner = Int32(DownloadRow.columns.count)
        try instance.snapshot(dialect) { snapshot in
            try snapshot.rows("load", Statements.load, [[]]) { row in
                try contents.reading(.downloads, row.key(0)) { contents throws(StoreError) in
                    let record = try reader.record(from: row)
                    if row.integer(owner) == instance.id { fleet.owned.insert(record.id) }
                    if row.integer(owner + 1) == instance.id { fleet.slots.insert(record.id) }
                    records.append(record)
                }
            }
            contents.recordParts = [records]
            try contents.readOthers(by: snapshot)
            for subscription in contents.subscriptions { subscriptions.note(subscription) }
            try snapshot.rows("identity", Statements.identity, [[]]) { row in
                fleet.database = row.text(0) ?? ""
                fleet.secret = Array((row.text(1) ?? "").utf8)
                // Milliseconds since 1970 fit into 48 bits.
                fleet.epoch = (UInt64(row.text(2) ?? "") ?? 0) << 16
                fleet.epoch |= history(of: fleet.database, isCopy: row.row.boolean(3) ?? false)
            }
            try changeLog.load(into: &fleet, snapshot)
        }
        contents.fleet = fleet
        return contents
    }

    /// Returns 16 bits of the epoch that distinguish the database's history from a copy's, and from the history of
    /// a standby that was promoted.
    private func history(of database: String, isCopy: Bool) -> UInt64 {
        guard isCopy else { return UInt64(clamping: instance.timeline & 0xFFFF) }
        let digest = SHA256.digest(of: Array("\(database) \(instance.timeline)".utf8))
        return UInt64(digest[0]) << 8 | UInt64(digest[1])
    }

    private enum Statements {
        static let load = "SELECT \(DownloadRow.list), owner, slot_holder FROM pawl.downloads ORDER BY id"
        static let identity = String(decoding: PackageResources.postgres_identity_sql, as: UTF8.self)
        static let notifyProgress = PostgresStatement("notify_progress", "SELECT pg_notify('pawl_progress', $1)")
        /// Delete rows that are not needed any more.
        static let trimming = [
            PostgresStatement(
                "trim_changes",
                "DELETE FROM pawl.changes WHERE published_at < clock_timestamp() - interval '10 minutes'"),
            PostgresStatement(
                "trim_messages", "DELETE FROM pawl.messages WHERE sent_at < clock_timestamp() - interval '1 minute'"),
            PostgresStatement(
                "trim_keys",
                "DELETE FROM pawl.idempotency_keys WHERE created_at < (extract(epoch FROM clock_timestamp()) - 86400) * 1000"),
        ]
    }
}

extension PostgresInstance {
    /// Returns the records of a result that can be decoded. The others are logged.
    package func records(in result: PostgresResult) -> [DownloadRecord] {
        var reader = DownloadRow.Reader()
        return result.rows.compactMap { row in
            do throws(StoreError) {
                return try reader.record(from: PostgresRowDecoder(row: row))
            } catch {
                options.log(.warning("a record is refused: \(error)"))
                return nil
            }
        }
    }
}
