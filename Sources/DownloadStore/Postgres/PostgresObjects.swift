internal import DownloadCore
internal import Postgres

/// The location of a fleet's objects, and the objects that no record names any more.
package struct PostgresObjects {
    let instance: PostgresInstance

    /// Stores the location of the fleet's objects if none is stored, or if `replacing`. In a copied database, the
    /// location of the original counts as none.
    /// - Returns: The stored location.
    func keep(place: String, replacing: Bool) throws(StoreError) -> String {
        try instance.texts(PostgresCommand(Statements.keepLocation, [.text(place), .boolean(replacing)])).first ?? ""
    }

    /// Schedules the removal of an object that no record has named. An abandoned request to store it has ended by then.
    func noteUnusedObject(_ key: String) throws(StoreError) {
        _ = try instance.run([PostgresCommand(Statements.discard, [.text(key)])])
    }

    /// Returns keys of objects that no record names any more. No other replica receives them for a minute, within which
    /// they should be removed.
    func takeGarbage(atMost count: Int) throws(StoreError) -> [String] {
        try instance.texts(PostgresCommand(Statements.takeDiscarded, [.integer(Int64(count))]))
    }

    /// Deletes the keys of objects that were removed.
    func dropGarbage(_ keys: [String]) throws(StoreError) {
        if keys.isEmpty { return }
        _ = try instance.run([PostgresCommand(Statements.dropDiscarded, [.text(PostgresGroup.array(keys))])])
    }

    /// Returns the keys that no record names.
    func unnamed(_ keys: [String]) throws(StoreError) -> [String] {
        if keys.isEmpty { return [] }
        return try instance.texts(PostgresCommand(Statements.unnamed, [.text(PostgresGroup.array(keys))]))
    }

    /// Claims the sweep for objects that no record names. Returns false if a replica has claimed it within the
    /// interval.
    func claimSweep(every interval: Duration) throws(StoreError) -> Bool {
        let command = PostgresCommand(Statements.claimSweep, [.integer(Int64(interval / .milliseconds(1)))])
        return try !instance.texts(command).isEmpty
    }

    private enum Statements {
        static let keepLocation = PostgresStatement("keep_location", file: PackageResources.postgres_keep_location_sql)
        static let discard = PostgresStatement(
            "discard",
            """
            INSERT INTO pawl.discarded_objects (key, removable_at) VALUES ($1, clock_timestamp() + interval '15 seconds')
                ON CONFLICT DO NOTHING
            """)
        static let takeDiscarded = PostgresStatement("take_discarded", file: PackageResources.postgres_take_discarded_sql)
        static let dropDiscarded = PostgresStatement(
            "drop_discarded", "DELETE FROM pawl.discarded_objects WHERE key = ANY ($1::text[])")
        static let unnamed = PostgresStatement("unnamed", file: PackageResources.postgres_unnamed_sql)
        static let claimSweep = PostgresStatement("claim_sweep", file: PackageResources.postgres_claim_sweep_sql)
    }
}
