import Postgres
import System
import TestSupport

@testable import DownloadCore
@testable import DownloadStore

/// A database for one test, its writers, and a connection for checks.
final class PostgresScene {
    let database: TestDatabase
    private let connection: PostgresConnection
    /// Of statements.
    private var names: [String: String] = [:]
    private static let patience = Duration.seconds(60)

    /// - Parameter database: the database to inspect.
    init(_ database: TestDatabase? = nil) throws {
        let database = try database ?? PrivatePostgres.database()
        self.database = database
        connection = try PostgresConnection(database.conninfo, application: "test", within: Self.patience)
    }

    func options(
        _ node: String = "a", through relay: FaultyRelay? = nil, lease: Duration = .seconds(3600), limit: Duration = patience
    ) -> PostgresRecordWriter.Options {
        let place = relay.map { database.conninfo(port: $0.port) } ?? database.conninfo
        return PostgresRecordWriter.Options(database: place, node: node, lease: lease, limit: limit)
    }

    /// A store, its follower's changes, and the number of lost leases.
    func store(
        _ options: PostgresRecordWriter.Options, _ committer: GroupCommitOptions = GroupCommitOptions()
    ) throws -> (store: GroupCommitStore<PostgresRecordWriter>, followed: FollowedChanges, fenced: Locked<Int>) {
        let writer = try PostgresRecordWriter(options)
        let fenced = Locked(0)
        writer.instance.fenced = { fenced.withLock { $0 += 1 } }
        let followed = FollowedChanges(writer)
        return (try GroupCommitStore(writer, options: committer), followed, fenced)
    }

    func relay() throws -> FaultyRelay { try FaultyRelay(to: database.server.port) }

    func execute(_ sql: String) throws {
        try connection.execute(sql, within: Self.patience)
    }

    /// The first column of all rows.
    func texts(_ sql: String) throws -> [String?] {
        let name = names[sql] ?? "test_\(names.count)"
        names[sql] = name
        let result = try connection.run([PostgresCommand(PostgresStatement(name, sql))], within: Self.patience)
        return result.first?.rows.map { $0.text(0) } ?? []
    }

    func number(_ sql: String) throws -> Int {
        try texts("SELECT (\(sql))::text").first.flatMap { $0 }.flatMap { Int($0) } ?? -1
    }

    /// The numbers and instances of the stored changes.
    func changes() throws -> [String?] {
        try texts("SELECT sequence || ' ' || download_id FROM pawl.changes ORDER BY sequence")
    }

    /// The sessions that wait for a lock.
    func blocked() throws -> [String?] {
        // Within a transaction, all queries see the state of the first.
        try execute("SELECT pg_stat_clear_snapshot()")
        return try texts(
            "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    }
}

/// The changes of a writer's follower.
final class FollowedChanges: Sendable {
    private let changes = Locked<[FleetChange]>([])

    init(_ writer: PostgresRecordWriter) {
        let changes = changes
        writer.changeLog.follower = { more in changes.withLock { $0 += more } }
    }

    /// In the form of ``PostgresScene/changes()``.
    var told: [String?] { all.map { "\($0.sequence) \($0.id)" } }
    var all: [FleetChange] { changes.withLock { $0 } }
}

extension PostgresRecordWriter {
    /// Requests slots in a separate group.
    func requestSlots(free: Int, hostLimit: Int) throws(StoreError) -> [DownloadRecord] {
        let request = SlotRequest(free: free, hostLimit: hostLimit)
        try commit([.fleet(.requestSlots(request))], isRepeated: false)
        return request.granted
    }
}
