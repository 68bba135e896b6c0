package import DownloadCore
internal import Postgres
internal import System

/// The ownership of downloads and webhook deliveries among the instances of a fleet.
package final class PostgresOwnership {
    /// The number of replicas that hold a lease.
    let replicas = Locked(1)
    /// Receives the smallest id of the webhook deliveries that were taken over from an ended replica.
    var adopted: ((RecordID) -> Void)?

    private let instance: PostgresInstance
    /// Whether deliveries may have been taken over although the response with their ids was lost.
    private var mayHaveAdopted = false

    init(_ instance: PostgresInstance) {
        self.instance = instance
    }

    private enum Statements {
        static let take = PostgresStatement("take", file: PackageResources.postgres_take_sql, columns: DownloadRow.columns)
        static let owners = PostgresStatement(
            "owners", "SELECT id, owner FROM pawl.downloads WHERE id = ANY ($2::text[]) AND owner IS DISTINCT FROM $1::bigint")
        static let owned = PostgresStatement(
            "owned",
            "SELECT \(DownloadRow.list) FROM pawl.downloads WHERE slot_holder = $1::bigint")
        static let leases = PostgresStatement("leases", file: PackageResources.postgres_leases_sql)
        static let reap = PostgresStatement("reap", "SELECT instance, released FROM pawl.reap($1::bigint, $2::interval)")
        static let terminate = PostgresStatement(
            "terminate", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1")
        static let retire = PostgresStatement("retire", "SELECT pawl.retire($1::bigint, $2::boolean)")
        static let orphans = PostgresStatement("orphans", "SELECT FROM pawl.webhook_deliveries WHERE owner IS NULL LIMIT 1")
        static let adopt = PostgresStatement("adopt", file: PackageResources.postgres_adopt_sql)
    }
}

extension PostgresOwnership {
    /// Acquires the downloads that no other instance owns.
    package func take(_ ids: [RecordID]) throws(StoreError) -> AcquiredDownloads {
        var taking = AcquiredDownloads()
        var free = ids
        while !free.isEmpty {
            let values: [PostgresValue] = [.integer(instance.id), .text(PostgresGroup.array(free.map(\.description)))]
            let results = try instance.transact([
                PostgresCommand(Statements.take, values), PostgresCommand(Statements.owners, values),
            ])
            free = []
            guard results.count == 2 else { break }
            taking.records += instance.records(in: results[0])
            for row in results[1].rows {
                guard let id = row.text(0).flatMap(RecordID.init) else { continue }
                // The owner may have released it between the two statements.
                if let owner = row.integer(1) { taking.owners[id] = owner } else { free.append(id) }
            }
        }
        return taking
    }

    /// Returns the downloads for which this instance has slots. Used when the response to a request for slots was lost.
    package func owned() throws(StoreError) -> [DownloadRecord] {
        try instance.run([PostgresCommand(Statements.owned, [.integer(instance.id)])]).first.map(instance.records) ?? []
    }

    /// Declares instances dead that have not renewed their leases in time, and releases their downloads.
    ///
    /// This instance must have renewed its own lease for the length of a lease without interruption. Otherwise the
    /// first replica to return after an outage of the database would declare all others dead.
    /// - Returns: The number of dead instances.
    @discardableResult
    func reap() throws(StoreError) -> Int {
        let lease = PostgresValue.text("\(Int64(instance.options.lease / .milliseconds(1))) milliseconds")
        guard let counts = try instance.run([PostgresCommand(Statements.leases, [lease])]).first?.rows.first,
            let held = counts.integer(0), let ended = counts.integer(1)
        else { return 0 }
        replicas.withLock { $0 = Int(held) }
        guard ended > 0, instance.isEstablished,
            let result = try instance.transact([PostgresCommand(Statements.reap, [.integer(instance.id), lease])]).first
        else { return 0 }
        if !result.rows.isEmpty {
            let released = result.rows.reduce(0) { $0 + Int($1.integer(1) ?? 0) }
            instance.options.log(.adopted(replicas: result.rows.count, downloads: released))
        }
        // The sessions of a suspended process, or of one behind a broken link, would occupy connections forever. A
        // listening session that does not read would fill the server's queue of notifications.
        let names = result.rows.compactMap { $0.integer(0) }.map(PostgresInstance.sessionName)
        _ = try? instance.run(names.map { PostgresCommand(Statements.terminate, [.text($0)]) })
        return result.rows.count
    }

    /// Releases the downloads that have no bytes here, or all of them if `leaving`. This instance writes nothing
    /// afterwards.
    package func retire(leaving: Bool) throws(StoreError) {
        _ = try instance.transact([PostgresCommand(Statements.retire, [.integer(instance.id), .boolean(leaving)])])
    }

    /// Takes over webhook deliveries of ended replicas, if there are any.
    func adoptDeliveries() throws(StoreError) {
        if mayHaveAdopted {
            _ = try instance.settle()
            adopted?(RecordID(value: 0))
            mayHaveAdopted = false
        }
        guard try instance.run([PostgresCommand(Statements.orphans, [])]).first?.rows.isEmpty == false else { return }
        mayHaveAdopted = true
        let result = try instance.transact([PostgresCommand(Statements.adopt, [.integer(instance.id)])]).first
        mayHaveAdopted = false
        if let first = result?.rows.compactMap({ $0.text(0).flatMap(RecordID.init) }).min() { adopted?(first) }
    }
}
