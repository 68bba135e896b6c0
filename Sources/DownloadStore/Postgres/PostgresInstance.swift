package import DownloadCore
package import Postgres
internal import System

/// An instance of a replica in the fleet's database: its connection, its lease, and the fence of its transactions.
///
/// A transaction begins with the fence, which renews the lease and refuses an instance that was declared dead. It is one
/// pipeline up to one Sync.
///
/// The connection may break before a commit is acknowledged. The number of the last group in `pawl.instances` then shows
/// whether the group was committed. If it was not, the number is changed so that it cannot be committed later. So
/// nothing is lost or written twice.
package final class PostgresInstance {
    /// The id: a random number.
    let id: Int64
    let options: PostgresRecordWriter.Options
    /// The timeline of the server at the start. A server with another timeline may lack the last commits.
    let timeline: Int64
    /// Whether a promoted standby may lack the last commits, because they do not wait for standbys.
    let mayLoseCommits: Bool
    /// The reason that other machines may read or change the traffic to the database, as a sentence; `nil` if it is
    /// protected.
    let exposure: String?
    /// The id of the server process of the connection.
    let session = Locked<Int32>(0)
    /// The time of the database's last response.
    let heard = Locked(ContinuousClock.now)
    /// The start of the last successful renewal of the lease. Other replicas declare this instance dead no earlier than
    /// one lease after it.
    let renewed = Locked(ContinuousClock.now)
    /// Called when this instance has lost its lease, possibly more than once.
    var fenced: (() -> Void)?

    private var connection: PostgresConnection? {
        didSet { if let connection { session.withLock { $0 = connection.processID } } }
    }
    /// The number of the last group that is known to be committed.
    private var lastGroup: Int64 = 0
    /// The content of the following group if it may have been committed; otherwise `nil`.
    private var doubt: Content?
    /// The time since which this instance has renewed its lease without interruption.
    private var renewedSince: ContinuousClock.Instant?
    private var isClosed = false

    /// The content of a group.
    enum Content {
        /// Changes, which are submitted again if their commit is in doubt.
        case changes
        case other
    }

    /// Connects, migrates the tables to the schema of this release, and registers the instance. The downloads of an
    /// earlier instance on the same data directory become its own.
    /// - Throws: `StoreError.unreleased`, `.newerSchema`, `.foreign`, `.unavailable`, or an error of PostgreSQL.
    init(_ options: PostgresRecordWriter.Options) throws(StoreError) {
        self.options = options
        var random = SystemRandom()
        id = Int64.random(in: 1...Int64.max, using: &random)
        let connection = try Self.connect(options, id)
        let ownsSession = try StoreError.translating {
            let other = try PostgresConnection(options.database, application: "pawl", within: options.limit)
            return try SessionProbe.ownsSession(connection, beside: other, within: options.limit)
        }
        guard ownsSession else {
            let reason =
                "a pooler gives each transaction another session: connect to PostgreSQL itself, or have the pooler use session mode"
            throw .unavailable(path: "the database", reason: reason)
        }
        try PostgresSchema.prepare(connection, within: options.limit, isFounding: options.isFounding)
        timeline = try Self.timeline(of: connection, within: options.limit)
        let standbys = try StoreError.translating {
            try connection.run([PostgresCommand(Statements.asynchronousStandbys, [])], within: options.limit)
        }
        exposure = connection.exposure
        mayLoseCommits = standbys.first?.rows.first?.boolean(0) ?? false
        let values: [PostgresValue] = [.integer(id), .text(options.node), .text("\(PostgresSchema.version)")]
        _ = try StoreError.translating {
            try connection.run([PostgresCommand(Statements.register, values)], within: options.limit)
        }
        self.connection = connection
        // An initialiser does not call the property's observer.
        session.withLock { $0 = connection.processID }
    }

    func close() {
        isClosed = true
        disconnect()
    }

    private enum Statements {
        static let register = PostgresStatement("register", "SELECT pawl.register($1::bigint, $2, $3)")
        static let fence = PostgresStatement("fence", "SELECT pawl.fence($1::bigint, $2::bigint)")
        package static let settle = PostgresStatement("settle", file: PackageResources.postgres_settle_sql)
        static let timeline = PostgresStatement("timeline", "SELECT timeline_id FROM pg_control_checkpoint()")
        static let asynchronousStandbys = PostgresStatement(
            "standbys",
            "SELECT EXISTS (SELECT FROM pg_stat_replication) AND current_setting('synchronous_standby_names') = ''")
    }
}

// MARK: - Transactions

extension PostgresInstance {
    /// Runs commands as one transaction that begins with the fence.
    func transact(
        _ commands: [PostgresCommand], _ content: Content = .other
    ) throws(StoreError) -> [PostgresResult] {
        _ = try settle()
        let connection = try connected()
        let number = lastGroup + 1
        do throws(PostgresError) {
            let fence = PostgresCommand(Statements.fence, [.integer(id), .integer(number)])
            let begun = ContinuousClock.now
            let results = try connection.run([fence] + commands, within: options.limit)
            noteResponse()
            lastGroup = number
            noteRenewal(begun)
            return Array(results.dropFirst())
        } catch {
            let meaning = StoreError(error)
            if case .interrupted = meaning {
                doubt = content
                disconnect()
            }
            if case .fenced = meaning { fenced?() }
            throw meaning
        }
    }

    /// Determines whether the changes of a commit are already committed.
    /// - Parameter isRepeated: Whether the last commit had the same changes and was interrupted. Otherwise a group in
    ///   doubt belongs to an earlier commit, which was abandoned.
    func hasCommitted(isRepeated: Bool) throws(StoreError) -> Bool {
        if !isRepeated, doubt != nil { doubt = .other }
        let isSame = doubt == .changes
        return try settle() && isSame
    }

    /// Determines whether the group in doubt was committed, and prevents a later commit. The server may still process
    /// the group in the broken session.
    /// - Returns: Whether a group was in doubt and was committed.
    package func settle() throws(StoreError) -> Bool {
        guard doubt != nil else { return false }
        let values: [PostgresValue] = [.integer(id), .integer(lastGroup)]
        let kept = try run([PostgresCommand(Statements.settle, values)]).first?.rows.first?.integer(0)
        guard let kept, kept == lastGroup + 1 || kept == lastGroup + 2 else { throw fence() }
        let isCommitted = kept == lastGroup + 1
        lastGroup = kept
        doubt = nil
        return isCommitted
    }

    /// Ends this instance, because it cannot continue.
    /// - Returns: The error to throw.
    func fence() -> StoreError {
        fenced?()
        return .fenced
    }

    /// Whether this instance has renewed its lease for the length of a lease without interruption.
    var isEstablished: Bool {
        guard let renewedSince else { return false }
        let now = ContinuousClock.now
        return now - renewedSince > options.lease && now - renewed.withLock({ $0 }) <= options.lease / 2
    }

    private func noteRenewal(_ begun: ContinuousClock.Instant) {
        renewed.withLock { last in
            if renewedSince == nil || begun - last > options.lease / 2 { renewedSince = begun }
            last = begun
        }
    }
}

// MARK: - Requests without the fence

extension PostgresInstance {
    /// Runs commands without the fence. Running them twice must do no harm.
    package func run(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
        if commands.isEmpty { return [] }
        let connection = try connected()
        do throws(PostgresError) {
            let results = try connection.run(commands, within: options.limit)
            noteResponse()
            return results
        } catch {
            throw StoreError(error)
        }
    }

    /// Runs the body with a reader of rows as of one moment.
    func snapshot(_ dialect: StoreDialect, _ body: (PostgresSnapshot) throws -> Void) throws(StoreError) {
        let connection = try connected()
        try StoreError.translating {
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", within: options.limit)
            defer { try? connection.execute("COMMIT", within: options.limit) }
            try body(PostgresSnapshot(dialect: dialect, connection: connection, limit: options.limit))
        }
    }

    private func noteResponse() {
        heard.withLock { $0 = .now }
    }
}

// MARK: - Connections

extension PostgresInstance {
    /// Returns the session name of an instance, by which other replicas can end its sessions when it is dead.
    static func sessionName(of instance: Int64) -> String { "pawl_instance_\(instance)" }

    private static func connect(
        _ options: PostgresRecordWriter.Options, _ id: Int64
    ) throws(StoreError) -> PostgresConnection {
        try StoreError.translating {
            let connection = try PostgresConnection(options.database, application: "pawl", within: options.limit)
            try connection.execute(
                """
                SET application_name = '\(sessionName(of: id))';
                SET synchronous_commit = on;
                SET jit = off;
                SET statement_timeout = '10s';
                SET lock_timeout = '5s';
                SET idle_in_transaction_session_timeout = '5s'
                """, within: options.limit)
            return connection
        }
    }

    /// Returns the connection, or a new one if it broke.
    private func connected() throws(StoreError) -> PostgresConnection {
        if isClosed { throw .closed }
        if let connection, !connection.isBroken { return connection }
        disconnect()
        let made = try Self.connect(options, id)
        // Changes that this replica has published may be missing there.
        guard try Self.timeline(of: made, within: options.limit) == timeline else {
            made.close()
            throw fence()
        }
        connection = made
        return made
    }

    /// Returns the server's timeline, which changes when a standby is promoted.
    private static func timeline(of connection: PostgresConnection, within limit: Duration) throws(StoreError) -> Int64 {
        try StoreError.translating {
            let rows = try connection.run([PostgresCommand(Statements.timeline, [])], within: limit).first?.rows
            return rows?.first?.integer(0) ?? 0
        }
    }

    private func disconnect() {
        connection?.close()
        connection = nil
    }
}

/// Reads the rows of one moment as they arrive.
struct PostgresSnapshot: StoreReader {
    let dialect: StoreDialect
    fileprivate let connection: PostgresConnection
    fileprivate let limit: Duration

    func rows(
        _ name: String, _ sql: String, _ parameters: [[String]], _ each: (PostgresRowDecoder) throws -> Void
    ) throws(StoreError) {
        try StoreError.translating {
            for parameters in parameters {
                let command = PostgresCommand(PostgresStatement(name, sql), parameters.map(PostgresValue.storable))
                try connection.query(command, within: limit) { try each(PostgresRowDecoder(row: $0)) }
            }
        }
    }
}
