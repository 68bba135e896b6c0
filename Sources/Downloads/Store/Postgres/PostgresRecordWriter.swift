internal import HTTPCore
internal import Postgres
internal import System

/// Keeps the records of a fleet in PostgreSQL, together with other replicas. A group of changes is one pipeline up to
/// one Sync, and therefore one transaction. It begins with the fence, which refuses the writes of an instance that was
/// declared dead.
///
/// The connection may break before a commit is acknowledged. The number of the last group in `pawl.replicas` then shows
/// whether the group was committed. If it was not, the number is changed so that it cannot be committed later. So
/// nothing is lost or written twice.
///
/// Changes are published in the order of their commits. A commit succeeds once the follower has received it and all
/// earlier commits of other replicas. A client that gets a response therefore finds its change on this replica.
final class PostgresRecordWriter: RecordWriter {
    /// The database, the data directory, and time limits.
    struct Options: Sendable {
        /// The connection string of the database, in libpq's format.
        var database: String
        /// The name of the data directory.
        var node: String
        /// The time after which an instance that does not renew its lease is declared dead.
        var lease: Duration = .seconds(15)
        /// Whether a new fleet is created in an empty database.
        var isFounding = true
        /// The maximum duration of connecting, and of a transaction.
        var limit: Duration = .seconds(10)
    }

    /// The id of this instance: a random number.
    let run: Int64
    /// Receives all changes in order, those of this and of other replicas. Set before the first write.
    var follower: (([FleetChange]) -> Void)?
    /// Called when this instance has lost its lease, possibly more than once.
    var fenced: (() -> Void)?

    private let options: Options
    /// The timeline of the server at the start. A server with another timeline may lack the last commits.
    private let timeline: Int64
    private var connection: PostgresConnection? {
        didSet { if let connection { session.withLock { $0 = connection.processID } } }
    }
    /// The id of the server process of the connection.
    let session = Locked<Int32>(0)
    /// The number of the last group that is known to be committed.
    private var lastGroup: Int64 = 0
    /// The kind of the following group if it may have been committed; otherwise `nil`.
    private var doubt: Doubt?
    /// Whether the changes of the last call are committed, and only the follower lacks them.
    private var isWritten = false
    private var isClosed = false
    /// The sequence number of the last change that the follower has received.
    private var followed: UInt64 = 0
    /// The time since which this instance has renewed its lease without interruption.
    private var renewedSince: ContinuousClock.Instant?
    /// The start of the last successful renewal of the lease. Other replicas declare this instance dead no earlier than
    /// one lease after it.
    let renewed = Locked(ContinuousClock.now)
    private var upkeeps = 0
    /// Receives the events to count and to log.
    var log: @Sendable (DownloadLogEvent) -> Void = { _ in }
    /// The number of replicas that hold a lease.
    let replicas = Locked(1)
    /// The time of the database's last response.
    let heard = Locked(ContinuousClock.now)
    /// Whether a promoted standby may lack the last commits, because they do not wait for standbys.
    let mayLoseCommits: Bool
    /// The reason that other machines may read or change the traffic to the database, as a sentence; `nil` if it is
    /// protected.
    let exposure: String?
    /// Receives the smallest id of the webhook deliveries that were taken over from an ended replica.
    var adopted: ((DownloadID) -> Void)?
    /// Whether deliveries may have been taken over although the response with their ids was lost.
    private var mayHaveAdopted = false

    private enum Doubt {
        /// Changes of a group, which are submitted again.
        case changes
        case other
    }

    /// Connects, migrates the tables to the schema of this release, and registers the instance. The downloads of an
    /// earlier instance on the same data directory become its own.
    /// - Throws: `StoreError.newerSchema`, `.foreign`, `.unavailable`, or an error of PostgreSQL.
    init(_ options: Options) throws(StoreError) {
        self.options = options
        var random = SystemRandom()
        run = Int64.random(in: 1...Int64.max, using: &random)
        let connection = try Self.connect(options, run)
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
        let values: [PostgresValue] = [.integer(run), .text(options.node), .text("\(PostgresSchema.version)")]
        _ = try StoreError.translating {
            try connection.run([PostgresCommand(Statements.register, values)], within: options.limit)
        }
        self.connection = connection
        // An initialiser does not call the property's observer.
        session.withLock { $0 = connection.processID }
    }

    /// Much shorter than the lease.
    var longestSilence: Duration? { min(.seconds(2), options.lease / 5) }

    func reserveRoom() -> Bool { true }

    func close() {
        isClosed = true
        connection?.close()
        connection = nil
    }
}

// MARK: - Writing

extension PostgresRecordWriter {
    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError) {
        if !isRepeated {
            isWritten = false
            // The group in doubt belongs to an earlier call, which was abandoned.
            if doubt != nil { doubt = .other }
        }
        let isSame = if case .changes? = doubt { true } else { false }
        if try settleDoubt(), isSame { isWritten = true }
        if isWritten {
            return try afterCommit { () throws(StoreError) in
                // The lost response contained the granted downloads.
                for case .claim(let claim) in changes { claim.grant(try claimed()) }
                try follow()
            }
        }
        var group = PostgresGroup(run: run)
        for change in changes { group.add(change) }
        let results = try transact(insisting: group.savesRecords, group.commands)
        isWritten = true
        for (claim, place) in group.claims where results.indices.contains(place) { claim.grant(readable(results[place])) }
        guard !group.told.isEmpty else { return }
        // Usually no other replica has changed anything in between.
        let isNext = results.last?.rows.first?.integer(0) == Int64(followed)
        try afterCommit { () throws(StoreError) in
            guard isNext else { return try follow() }
            let first = followed + 1
            deliver(
                group.told.enumerated().map { place, told in
                    FleetChange(sequence: first + UInt64(place), id: told.id, download: told.download.map(FleetChange.told))
                })
        }
    }

    /// Runs the commands of a group of changes.
    /// - Parameter isInsisting: Whether a conflict is tried again. The group saves records, and another replica may
    ///   just have made another download the first of a URL; a new attempt sees that.
    private func transact(insisting isInsisting: Bool, _ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
        var attempts = isInsisting ? Self.mostConflicts : 1
        while true {
            attempts -= 1
            do throws(StoreError) {
                return try transact(commands, .changes)
            } catch  where error == .conflict && attempts > 0 {}
        }
    }

    private static let mostConflicts = 5

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

    /// Runs commands as one transaction that begins with the fence.
    private func transact(_ commands: [PostgresCommand], _ kind: Doubt = .other) throws(StoreError) -> [PostgresResult] {
        _ = try settleDoubt()
        let connection = try connected()
        let number = lastGroup + 1
        do throws(PostgresError) {
            let fence = PostgresCommand(Statements.fence, [.integer(run), .integer(number)])
            let begun = ContinuousClock.now
            let results = try connection.run([fence] + commands, within: options.limit)
            noteAnswer()
            lastGroup = number
            noteRenewal(begun)
            return Array(results.dropFirst())
        } catch {
            let meaning = StoreError(error)
            if case .interrupted = meaning {
                doubt = kind
                disconnect()
            }
            if case .fenced = meaning { fenced?() }
            throw meaning
        }
    }

    /// Determines whether the group in doubt was committed, and prevents a later commit. The server may still process
    /// the group in the broken session.
    /// - Returns: Whether a group was in doubt and was committed.
    private func settleDoubt() throws(StoreError) -> Bool {
        guard doubt != nil else { return false }
        let values: [PostgresValue] = [.integer(run), .integer(lastGroup)]
        let kept = try ask([PostgresCommand(Statements.settle, values)]).first?.rows.first?.integer(0)
        guard let kept, kept == lastGroup + 1 || kept == lastGroup + 2 else {
            fenced?()
            throw .fenced
        }
        let isCommitted = kept == lastGroup + 1
        lastGroup = kept
        doubt = nil
        return isCommitted
    }

    private func noteAnswer() {
        heard.withLock { $0 = .now }
    }

    private func noteRenewal(_ begun: ContinuousClock.Instant) {
        renewed.withLock { last in
            if renewedSince == nil || begun - last > options.lease / 2 { renewedSince = begun }
            last = begun
        }
    }
}

// MARK: - Ownership

extension PostgresRecordWriter {
    /// Acquires the downloads that no other instance owns.
    func take(_ ids: [DownloadID]) throws(StoreError) -> FleetTaking {
        var taking = FleetTaking()
        var free = ids
        while !free.isEmpty {
            let values: [PostgresValue] = [.integer(run), .text(PostgresGroup.array(free.map(\.description)))]
            let results = try transact([PostgresCommand(Statements.take, values), PostgresCommand(Statements.owners, values)])
            free = []
            guard results.count == 2 else { break }
            taking.records += try read(results[0])
            for row in results[1].rows {
                guard let id = row.text(0).flatMap(DownloadID.init) else { continue }
                // The owner may have released it between the two statements.
                if let owner = row.integer(1) { taking.owners[id] = owner } else { free.append(id) }
            }
        }
        return taking
    }

    /// Returns the downloads for which this instance has slots. Used when the response to a request for slots was lost.
    private func claimed() throws(StoreError) -> [DownloadRecord] {
        try ask([PostgresCommand(Statements.claimed, [.integer(run)])]).first.map(readable) ?? []
    }

    /// Declares instances dead that have not renewed their leases in time, and releases their downloads.
    ///
    /// This instance must have renewed its own lease for the length of a lease without interruption. Otherwise the
    /// first replica to return after an outage of the database would declare all others dead.
    /// - Returns: The number of dead instances.
    @discardableResult
    func reap() throws(StoreError) -> Int {
        let lease = PostgresValue.text("\(Int64(options.lease / .milliseconds(1))) milliseconds")
        guard let counts = try ask([PostgresCommand(Statements.living, [lease])]).first?.rows.first,
            let living = counts.integer(0), let silent = counts.integer(1)
        else { return 0 }
        replicas.withLock { $0 = Int(living) }
        let now = ContinuousClock.now
        guard silent > 0, let renewedSince, now - renewedSince > options.lease,
            now - renewed.withLock({ $0 }) <= options.lease / 2,
            let result = try transact([PostgresCommand(Statements.reap, [.integer(run), lease])]).first
        else { return 0 }
        if !result.rows.isEmpty {
            log(.adopted(replicas: result.rows.count, downloads: result.rows.reduce(0) { $0 + Int($1.integer(1) ?? 0) }))
        }
        // The sessions of a suspended process, or of one behind a broken link, would occupy connections forever. A
        // listening session that does not read would fill the server's queue of notifications.
        let dead = result.rows.compactMap { $0.integer(0) }
        _ = try? ask(dead.map { PostgresCommand(Statements.terminate, [.text(Self.sessionName(of: $0))]) })
        try follow()
        return result.rows.count
    }

    /// Removes and returns the messages for this instance, oldest first, after following all changes that were
    /// committed before them. The sender repeats remote commands whose message or reply gets lost.
    func letters() throws(StoreError) -> [(sender: Int64, text: String)] {
        guard let rows = try ask([PostgresCommand(Statements.letters, [.integer(run)])]).first?.rows, !rows.isEmpty else {
            return []
        }
        try follow()
        let letters = rows.compactMap { row in
            row.integer(0).flatMap { number in row.integer(1).flatMap { sender in row.text(2).map { (number, sender, $0) } } }
        }
        return letters.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
    }

    /// Does the work of each second.
    /// - Parameter progress: Messages about this replica's transfers, for the other replicas.
    func upkeep(telling progress: [String]) {
        do throws(StoreError) {
            _ = try ask(progress.map { PostgresCommand(Statements.tellProgress, [.text($0)]) })
            try reap()
            if mayHaveAdopted {
                _ = try settleDoubt()
                adopted?(DownloadID(value: 0))
                mayHaveAdopted = false
            }
            if try ask([PostgresCommand(Statements.orphans, [])]).first?.rows.isEmpty == false {
                mayHaveAdopted = true
                let orphans = try adoptDeliveries()
                mayHaveAdopted = false
                if let first = orphans.min() { adopted?(first) }
            }
            upkeeps += 1
            if upkeeps % 60 == 0 {
                _ = try ask([Statements.trim, Statements.trimMail, Statements.trimKeys].map { PostgresCommand($0, []) })
            }
        } catch {
            // Tried again in a second.
        }
    }

    /// Releases the downloads that have no bytes here, or all of them if `leaving`. This instance writes nothing
    /// afterwards.
    func retire(leaving: Bool) throws(StoreError) {
        _ = try transact([PostgresCommand(Statements.retire, [.integer(run), .boolean(leaving)])])
    }
}

// MARK: - Objects

extension PostgresRecordWriter {
    /// Stores the location of the fleet's objects if none is stored, or if `replacing`. In a copied database, the
    /// location of the original counts as none.
    /// - Returns: The stored location.
    func keep(place: String, replacing: Bool) throws(StoreError) -> String {
        try texts(PostgresCommand(Statements.keepPlace, [.text(place), .boolean(replacing)])).first ?? ""
    }

    /// Schedules the removal of an object that no record has named. An abandoned request to store it has ended by then.
    func noteGarbage(_ key: String) throws(StoreError) {
        _ = try ask([PostgresCommand(Statements.noteGarbage, [.text(key)])])
    }

    /// Returns keys of objects that no record names any more. No other replica receives them for a minute, within which
    /// they should be removed.
    func takeGarbage(atMost count: Int) throws(StoreError) -> [String] {
        try texts(PostgresCommand(Statements.takeGarbage, [.integer(Int64(count))]))
    }

    /// Deletes the keys of objects that were removed.
    func dropGarbage(_ keys: [String]) throws(StoreError) {
        if keys.isEmpty { return }
        _ = try ask([PostgresCommand(Statements.dropGarbage, [.text(PostgresGroup.array(keys))])])
    }

    /// Returns the keys that no record names.
    func unnamed(_ keys: [String]) throws(StoreError) -> [String] {
        if keys.isEmpty { return [] }
        return try texts(PostgresCommand(Statements.unnamed, [.text(PostgresGroup.array(keys))]))
    }

    /// Claims the sweep for objects that no record names. Returns false if a replica has claimed it within the
    /// interval.
    func claimSweep(every interval: Duration) throws(StoreError) -> Bool {
        try !texts(PostgresCommand(Statements.claimSweep, [.integer(Int64(interval / .milliseconds(1)))])).isEmpty
    }

    private func texts(_ command: PostgresCommand) throws(StoreError) -> [String] {
        try ask([command]).first?.rows.compactMap { $0.text(0) } ?? []
    }
}

// MARK: - Changes

extension PostgresRecordWriter {
    /// Passes all committed changes to the follower.
    func follow() throws(StoreError) {
        while true {
            let values: [PostgresValue] = [.integer(Int64(followed)), .integer(Self.pageSize)]
            guard let rows = try ask([PostgresCommand(Statements.changes, values)]).first?.rows, !rows.isEmpty else { return }
            // The missing changes have been trimmed, because this replica was away for too long.
            guard rows.first?.integer(0) == Int64(followed) + 1 else {
                fenced?()
                throw .fenced
            }
            do throws(StoreError) {
                deliver(try rows.map { row throws(StoreError) in try Self.change(row) })
            } catch {
                // A replica that cannot decode the change feed must leave the fleet.
                log(.warning("what a replica of another release has written cannot be read: \(error)"))
                fenced?()
                throw error
            }
            log(.followed(lags: rows.map { .microseconds($0.integer(3) ?? 0) }))
            if rows.count < Self.pageSize { return }
        }
    }

    private static let pageSize: Int64 = 1_000

    private static func change(_ row: PostgresRow) throws(StoreError) -> FleetChange {
        guard let number = row.integer(0), let id = row.text(1).flatMap(DownloadID.init) else {
            throw .damaged("a change cannot be read")
        }
        let download = try row.text(2).map { body throws(StoreError) in try FleetChange.decode(body) }
        return FleetChange(sequence: UInt64(clamping: number), id: id, download: download)
    }

    private func deliver(_ changes: [FleetChange]) {
        followed = changes.last?.sequence ?? followed
        follower?(changes)
    }
}

// MARK: - Connections

extension PostgresRecordWriter {
    /// Returns the session name of an instance, by which other replicas can end its sessions when it is dead.
    static func sessionName(of run: Int64) -> String { "pawl_instance_\(run)" }

    private static func connect(_ options: Options, _ run: Int64) throws(StoreError) -> PostgresConnection {
        try StoreError.translating {
            let connection = try PostgresConnection(options.database, application: "pawl", within: options.limit)
            try connection.execute(
                """
                SET application_name = '\(sessionName(of: run))';
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
        let made = try Self.connect(options, run)
        // Changes that this replica has published may be missing there.
        guard try Self.timeline(of: made, within: options.limit) == timeline else {
            made.close()
            fenced?()
            throw .fenced
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

    /// Runs commands without the fence. Running them twice must do no harm.
    private func ask(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
        if commands.isEmpty { return [] }
        let connection = try connected()
        do throws(PostgresError) {
            let results = try connection.run(commands, within: options.limit)
            noteAnswer()
            return results
        } catch {
            throw StoreError(error)
        }
    }
}

// MARK: - Reading

extension PostgresRecordWriter {
    func records(_ ids: [DownloadID]) throws(StoreError) -> [DownloadRecord] {
        var records: [DownloadRecord] = []
        for result in try ask(ids.map { PostgresCommand(Statements.find, [.text($0.description)]) }) {
            records += try read(result)
        }
        return records
    }

    private func read(_ result: PostgresResult) throws(StoreError) -> [DownloadRecord] {
        var reader = DownloadRow.Reader()
        var records: [DownloadRecord] = []
        for row in result.rows {
            do throws(StoreError) {
                records.append(try reader.record(from: PostgresRowDecoder(row: row)))
            } catch {
                log(.warning("a record is refused: \(error)"))
            }
        }
        return records
    }

    /// Returns the records that can be decoded. The others have slots nevertheless.
    private func readable(_ result: PostgresResult) -> [DownloadRecord] {
        var reader = DownloadRow.Reader()
        return result.rows.compactMap { row in
            do throws(StoreError) {
                return try reader.record(from: PostgresRowDecoder(row: row))
            } catch {
                log(.warning("a download that has a turn cannot be read: \(error)"))
                return nil
            }
        }
    }

    /// Returns the outcome of the request with an idempotency key; `nil` if no replica has carried it out.
    func idempotencyRecord(_ key: String) throws(StoreError) -> IdempotencyRecord? {
        guard let row = try ask([PostgresCommand(Statements.key, [.text(key)])]).first?.rows.first else { return nil }
        return try IdempotencyRow.record(from: PostgresRowDecoder(row: row))
    }

    /// Takes over webhook deliveries of ended replicas.
    /// - Returns: The ids of the deliveries.
    func adoptDeliveries() throws(StoreError) -> [DownloadID] {
        guard let rows = try transact([PostgresCommand(Statements.adopt, [.integer(run)])]).first?.rows else { return [] }
        return rows.compactMap { $0.text(0).flatMap(DownloadID.init) }
    }

    func deliveries(from id: DownloadID, if isWanted: (String) -> Bool) throws(StoreError) -> DeliveryPage {
        var page = DeliveryPage()
        let values: [PostgresValue] = [.integer(run), .text(id.description)]
        guard let rows = try ask([PostgresCommand(Statements.deliveries, values)]).first?.rows else { return page }
        for row in rows { DeliveryRow.read(PostgresRowDecoder(row: row), into: &page, if: isWanted) }
        return page
    }

    func settings() throws(StoreError) -> [String: String] {
        Self.settings(try ask([PostgresCommand(Statements.settings, [])]).first)
    }

    /// Changes settings if the present settings are as expected.
    /// - Returns: Whether they were, and the settings afterwards.
    func change(
        _ changes: [String: String], from expected: [String: String]
    ) throws(StoreError) -> (isDone: Bool, settings: [String: String]) {
        let values = [expected, changes].flatMap { values in
            let values = Array(values)
            return [values.map(\.key), values.map(\.value)].map { PostgresValue.text(PostgresGroup.array($0)) }
        }
        let results = try transact([
            PostgresCommand(Statements.lockSettings, []), PostgresCommand(Statements.changeSettings, values),
            PostgresCommand(Statements.tellSettings, []), PostgresCommand(Statements.settings, []),
        ])
        return (results.dropFirst().first?.rows.isEmpty == false, Self.settings(results.last))
    }

    private static func settings(_ result: PostgresResult?) -> [String: String] {
        var settings: [String: String] = [:]
        guard let result else { return settings }
        for row in result.rows { if let name = row.text(0), let value = row.text(1) { settings[name] = value } }
        return settings
    }

    /// Reads everything as of one moment.
    func load() throws(StoreError) -> StoredContents {
        let connection = try connected()
        var contents = StoredContents()
        var fleet = FleetContents()
        var reader = DownloadRow.Reader()
        func each(_ statement: PostgresStatement, _ row: (PostgresRowDecoder) throws -> Void) throws {
            try connection.query(PostgresCommand(statement, []), within: options.limit) { try row(PostgresRowDecoder(row: $0)) }
        }
        try StoreError.translating {
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", within: options.limit)
            defer { try? connection.execute("COMMIT", within: options.limit) }
            let owner = Int32(DownloadRow.columns.count)
            try each(Statements.load) { row in
                try contents.reading(.downloads, row.key(0)) { contents throws(StoreError) in
                    let record = try reader.record(from: row)
                    if row.integer(owner) == run { fleet.owned.insert(record.id) }
                    if row.integer(owner + 1) == run { fleet.turns.insert(record.id) }
                    contents.records.append(record)
                }
            }
            try each(Statements.settings) { row in
                if let name = row.text(0), let value = row.text(1) { contents.settings[name] = value }
            }
            try each(Statements.keys) { row in
                try contents.reading(.keys, row.key(0)) { contents throws(StoreError) in
                    contents.idempotencyRecords.append(try IdempotencyRow.record(from: row))
                }
            }
            var isRestored = false
            try each(Statements.identity) { row in
                fleet.database = row.text(0) ?? ""
                isRestored = row.row.boolean(1) ?? false
            }
            let digest = SHA256.digest(of: Array("\(fleet.database) \(timeline)".utf8))
            let history = isRestored ? UInt64(digest[0]) << 8 | UInt64(digest[1]) : UInt64(clamping: timeline & 0xFFFF)
            // Milliseconds since 1970 fit into 48 bits.
            try each(Statements.epoch) {
                fleet.epoch = (UInt64($0.text(0) ?? "") ?? 0) << 16 | history
            }
            try each(Statements.secret) { fleet.secret = Array(($0.text(0) ?? "").utf8) }
            try each(Statements.clock) { fleet.base = UInt64(clamping: $0.integer(0) ?? 0) }
            try each(Statements.recent) { row in
                guard let id = row.text(1).flatMap(DownloadID.init) else { throw StoreError.damaged("a change cannot be read") }
                var download: Download?
                do {
                    download = try row.text(2).map { body in try FleetChange.decode(body) }
                } catch {
                    // The download's record is refused as well. The change is kept, because sequence numbers have no
                    // gaps.
                    log(.warning("a change to download \(id) is refused: \(error)"))
                }
                fleet.recent.append(FleetChange(sequence: UInt64(clamping: row.integer(0) ?? 0), id: id, download: download))
            }
        }
        fleet.recent.reverse()
        followed = fleet.base
        fleet.base -= min(UInt64(fleet.recent.count), fleet.base)
        contents.fleet = fleet
        return contents
    }
}

extension PostgresRecordWriter {
    fileprivate enum Statements {
        static let register = PostgresStatement("register", "SELECT pawl.register($1::bigint, $2, $3)")
        static let fence = PostgresStatement("fence", "SELECT pawl.fence($1::bigint, $2::bigint)")
        /// Waits for the group if it is being processed, and otherwise takes its number, so that it can no longer
        /// commit. Repeating the statement changes nothing.
        static let settle = PostgresStatement(
            "settle",
            """
            UPDATE pawl.instances SET last_group = CASE last_group WHEN $2::bigint THEN $2::bigint + 2 ELSE last_group END
                WHERE id = $1::bigint RETURNING last_group
            """)
        static let reap = PostgresStatement("reap", "SELECT instance, released FROM pawl.reap($1::bigint, $2::interval)")
        static let letters = PostgresStatement(
            "letters", "DELETE FROM pawl.messages WHERE recipient = $1::bigint RETURNING number, sender, body")
        static let living = PostgresStatement(
            "living",
            """
            SELECT count(*) FILTER (WHERE renewed_at >= clock_timestamp() - $1::interval),
                count(*) FILTER (WHERE renewed_at < clock_timestamp() - $1::interval) FROM pawl.instances
            """)
        static let retire = PostgresStatement("retire", "SELECT pawl.retire($1::bigint, $2::boolean)")
        static let tellProgress = PostgresStatement("tell_progress", "SELECT pg_notify('pawl_progress', $1)")
        static let terminate = PostgresStatement(
            "terminate", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1")

        private static let columns = DownloadRow.columns.joined(separator: ", ")
        static let find = PostgresStatement("find", "SELECT \(columns) FROM pawl.downloads WHERE id = $1")
        static let load = PostgresStatement("load", "SELECT \(columns), owner, slot_holder FROM pawl.downloads ORDER BY id")
        static let take = PostgresStatement(
            "take",
            """
            UPDATE pawl.downloads SET owner = $1::bigint
                WHERE id = ANY ($2::text[]) AND (owner IS NULL OR owner = $1::bigint) RETURNING \(columns)
            """)
        static let owners = PostgresStatement(
            "owners", "SELECT id, owner FROM pawl.downloads WHERE id = ANY ($2::text[]) AND owner IS DISTINCT FROM $1::bigint")
        static let claimed = PostgresStatement("claimed", "SELECT \(columns) FROM pawl.downloads WHERE slot_holder = $1::bigint")

        static let settings = PostgresStatement("settings", "SELECT name, value FROM pawl.settings")
        static let lockSettings = PostgresStatement(
            "lock_settings", "SELECT pg_advisory_xact_lock(\(PostgresSchema.settingsLock))")
        static let changeSettings = PostgresStatement(
            "change_settings",
            """
            INSERT INTO pawl.settings (name, value) SELECT unnest($3::text[]), unnest($4::text[])
                WHERE (SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM pawl.settings) = jsonb_object($1::text[], $2::text[])
                ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value RETURNING name
            """)
        static let tellSettings = PostgresStatement("tell_settings", "SELECT pg_notify('pawl_settings', '')")
        static let keys = PostgresStatement(
            "keys", "SELECT key, request_digest, outcomes, created_at FROM pawl.idempotency_keys ORDER BY created_at, key")
        static let deliveries = PostgresStatement(
            "deliveries",
            """
            SELECT \(DeliveryRow.columns) FROM pawl.webhook_deliveries WHERE owner = $1::bigint AND id >= $2
                ORDER BY id LIMIT \(DeliveryRow.pageSize)
            """)
        static let timeline = PostgresStatement("timeline", "SELECT timeline_id FROM pg_control_checkpoint()")
        static let asynchronousStandbys = PostgresStatement(
            "standbys",
            "SELECT EXISTS (SELECT FROM pg_stat_replication) AND current_setting('synchronous_standby_names') = ''")
        static let epoch = PostgresStatement("epoch", "SELECT value FROM pawl.meta WHERE name = 'epoch'")
        private static let database = PostgresSchema.identity
        static let identity = PostgresStatement(
            "identity", "SELECT \(database), (SELECT value FROM pawl.meta WHERE name = 'database') IS DISTINCT FROM \(database)")
        static let keepPlace = PostgresStatement(
            "keep_place",
            """
            INSERT INTO pawl.meta AS kept (name, value) VALUES ('files_location', \(database) || ' ' || $1)
                ON CONFLICT (name) DO UPDATE SET value = CASE
                    WHEN $2::boolean OR NOT starts_with(kept.value, \(database) || ' ') THEN EXCLUDED.value ELSE kept.value END
                RETURNING substr(value, length(\(database) || ' ') + 1)
            """)
        static let secret = PostgresStatement("secret", "SELECT value FROM pawl.meta WHERE name = 'secret'")
        static let clock = PostgresStatement("feed_end", "SELECT sequence FROM pawl.feed_end")
        static let recent = PostgresStatement(
            "recent",
            "SELECT sequence, download_id, download FROM pawl.changes ORDER BY sequence DESC LIMIT \(EventHistory.defaultCapacity)"
        )
        static let changes = PostgresStatement(
            "changes",
            """
            SELECT sequence, download_id, download,
                floor(extract(epoch FROM clock_timestamp() - published_at) * 1000000)::bigint
                FROM pawl.changes WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
            """)
        static let trimKeys = PostgresStatement(
            "trim_keys",
            "DELETE FROM pawl.idempotency_keys WHERE created_at < (extract(epoch FROM clock_timestamp()) - 86400) * 1000")
        static let key = PostgresStatement(
            "key", "SELECT key, request_digest, outcomes, created_at FROM pawl.idempotency_keys WHERE key = $1")
        static let orphans = PostgresStatement("orphans", "SELECT FROM pawl.webhook_deliveries WHERE owner IS NULL LIMIT 1")
        static let adopt = PostgresStatement(
            "adopt",
            """
            UPDATE pawl.webhook_deliveries SET owner = $1::bigint
                WHERE id IN (SELECT id FROM pawl.webhook_deliveries WHERE owner IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)
                RETURNING id
            """)
        static let noteGarbage = PostgresStatement(
            "note_garbage",
            """
            INSERT INTO pawl.discarded_objects (key, removable_at) VALUES ($1, clock_timestamp() + interval '15 seconds') ON CONFLICT DO NOTHING
            """)
        // SKIP LOCKED gives several replicas different keys.
        static let takeGarbage = PostgresStatement(
            "take_garbage",
            """
            UPDATE pawl.discarded_objects SET removable_at = clock_timestamp() + interval '1 minute' WHERE key IN (
                SELECT key FROM pawl.discarded_objects WHERE removable_at <= clock_timestamp()
                    ORDER BY removable_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
                RETURNING key
            """)
        static let dropGarbage = PostgresStatement(
            "drop_garbage", "DELETE FROM pawl.discarded_objects WHERE key = ANY ($1::text[])")
        static let unnamed = PostgresStatement(
            "unnamed",
            """
            SELECT key FROM unnest($1::text[]) AS listed (key) WHERE NOT EXISTS (
                SELECT FROM pawl.downloads WHERE id = split_part(key, '/', 1)
                    AND starts_with(file_identity, '0:' || split_part(key, '/', 2) || ':'))
            """)
        static let claimSweep = PostgresStatement(
            "claim_sweep",
            """
            INSERT INTO pawl.meta AS kept (name, value)
                VALUES ('swept_at', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text)
                ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
                    WHERE kept.value::bigint <= EXCLUDED.value::bigint - $1::bigint
                RETURNING value
            """)
        static let trim = PostgresStatement(
            "trim", "DELETE FROM pawl.changes WHERE published_at < clock_timestamp() - interval '10 minutes'")
        static let trimMail = PostgresStatement(
            "trim_mail", "DELETE FROM pawl.messages WHERE sent_at < clock_timestamp() - interval '1 minute'")
    }
}

extension StoreError {
    /// Translates an error of PostgreSQL. The classes of states are in
    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
    init(_ error: PostgresError) {
        switch error {
        case .library(let message), .invalid(let message): self = .unavailable(path: "the database", reason: message)
        case .unavailable(let message): self = .interrupted(message)
        case .timedOut: self = .interrupted("it does not answer in time")
        case .server("PW001", _): self = .fenced
        case .server("53100", _): self = .full
        // Two replicas can only conflict over URLs, idempotency keys and gids, which are unique.
        case .server("23505", _): self = .conflict
        // The statement was cancelled for taking too long, and would take as long again.
        case .server("57014", let message): self = .inputOutput(message)
        // Lost connections, missing resources, operator intervention, conflicts, read-only servers, and missing tables
        // while a backup is restored. Another attempt may succeed.
        case .server(let state, let message)
        where ["08", "3F", "40", "53", "57"].contains(state.prefix(2)) || ["25006", "42P01", "42883", "55P03"].contains(state):
            self = .interrupted(message)
        case .server(let state, let message): self = .refused("PostgreSQL error \(state): \(message)")
        }
    }
}
