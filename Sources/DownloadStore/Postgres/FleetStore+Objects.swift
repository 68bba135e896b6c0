package import DownloadCore
internal import Postgres

/// The location of a fleet's objects, and the objects that no record names any more.
extension FleetStore {
    /// Stores the location of the fleet's objects if none is stored, or if `replacing`. In a copied database, the
    /// location of the original counts as none.
    /// - Returns: The stored location.
    package func keep(place: String, replacing: Bool) async throws(StoreError) -> String {
        try await texts(Statements.keepLocation, [.text(place), .boolean(replacing)]).first ?? ""
    }

    /// Schedules the removal of an object that no record has named. An abandoned request to store it has ended by then.
    package func noteUnusedObject(_ key: String) async throws(StoreError) {
        _ = try await texts(Statements.discard, [.text(key)], repeats: true)
    }

    /// Returns keys of objects that no record names any more. No other replica receives them for a minute, within which
    /// they should be removed.
    package func takeGarbage(atMost count: Int) async throws(StoreError) -> [String] {
        try await texts(Statements.takeDiscarded, [.integer(Int64(count))])
    }

    /// Deletes the keys of objects that were removed.
    package func dropGarbage(_ keys: [String]) async throws(StoreError) {
        if !keys.isEmpty { _ = try await texts(Statements.dropDiscarded, [.text(PostgresGroup.array(keys))]) }
    }

    /// Returns the keys that no record names.
    package func unnamed(_ keys: [String]) async throws(StoreError) -> [String] {
        keys.isEmpty ? [] : try await texts(Statements.unnamed, [.text(PostgresGroup.array(keys))], repeats: true)
    }

    /// Acquires the sweep for objects that no record names. Returns false if a replica has acquired it within the
    /// interval.
    package func acquireSweep(every interval: Duration) async throws(StoreError) -> Bool {
        try await !texts(Statements.acquireSweep, [.integer(Int64(interval / .milliseconds(1)))]).isEmpty
    }

    /// Returns the texts in the first column of a statement's rows.
    private func texts(
        _ statement: PostgresStatement, _ values: [PostgresValue], repeats: Bool = false
    ) async throws(StoreError) -> [String] {
        try await perform(repeats: repeats) { writer in
            try writer.instance.run([PostgresCommand(statement, values)]).first?.rows.compactMap { $0.text(0) } ?? []
        }
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
        static let acquireSweep = PostgresStatement("claim_sweep", file: PackageResources.postgres_claim_sweep_sql)
    }
}
