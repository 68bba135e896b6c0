internal import DownloadCore
internal import Postgres

/// The tables of a fleet, all in the schema `pawl`, and the migration of databases of older releases.
///
/// Replicas of two releases run side by side during an upgrade, so a migration only adds, and statements name their
/// columns. A part that an older release needs is removed one release after the last that used it, and ``oldestBeside``
/// is raised.
enum PostgresSchema {
    /// The schema version that this release writes.
    static var version: Int { SchemaFile.fleet.newestVersion }

    /// The oldest schema version whose release may run beside this one.
    static let oldestBeside = 104

    /// The oldest supported PostgreSQL, in the numbering of `server_version_num`.
    static let oldestServer = 130_000

    /// The keys of the advisory locks: "Pawl" in ASCII, followed by a number. `pawl.claim` has the second one, and
    /// `pawl.claim_subscription` the fourth.
    static let migrationLock: Int64 = 0x5061_776C_01
    /// Held from the comparison of settings to their change.
    static let settingsLock: Int64 = 0x5061_776C_03

    /// Migrates the database to the schema of this release. Several replicas may do so concurrently.
    ///
    /// - Parameter isFounding: Whether a new fleet is created in an empty database.
    /// - Throws: `StoreError.unreleased`, `.newerSchema`, `.foreign`, `.unavailable`, or an error of PostgreSQL.
    static func prepare(
        _ connection: PostgresConnection, within limit: Duration, isFounding: Bool = true, files: [SchemaFile] = SchemaFile.fleet
    ) throws(StoreError) {
        guard connection.serverVersion >= oldestServer else {
            let found = "\(connection.serverVersion / 10_000)"
            throw .unavailable(path: "the database", reason: "PostgreSQL \(found) is too old: 13 or newer is needed")
        }
        try StoreError.translating {
            try checkEncoding(of: connection, within: limit)
            try connection.execute("SELECT pg_advisory_lock(\(migrationLock))", within: limit)
            let found = try versions(of: connection, within: limit)
            guard found.schema > 0 || isFounding else {
                throw StoreError.unavailable(path: "the database", reason: "no fleet has records in it")
            }
            let missing = try files.missing(
                from: found.schema, oldest: found.oldest, in: "the database",
                unreleased: .unreleased(
                    "the database", remedy: "give an empty database, or drop the schema 'pawl' in this one"))
            if found.schema == 0 { try checkPermission(on: connection, hasSchema: found.hasSchema, within: limit) }
            for file in missing {
                // A string with several statements is one transaction.
                let first = found.schema == 0 && !found.hasSchema && file.version == missing.first?.version
                let note = """
                    ;
                    INSERT INTO pawl.meta (name, value) VALUES ('version', '\(file.version)'), ('oldest', '\(oldestBeside)')
                        ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
                    """
                try connection.execute((first ? "CREATE SCHEMA pawl;\n" : "") + file.sql + note, within: limit)
            }
            try connection.execute("SELECT pg_advisory_unlock(\(migrationLock))", within: limit)
        }
    }

    /// Refuses a database that cannot hold every character. In SQL_ASCII, PostgreSQL keeps the bytes as they are.
    private static func checkEncoding(of connection: PostgresConnection, within limit: Duration) throws {
        let encoding = try connection.value("SHOW server_encoding", within: limit) ?? ""
        guard !["UTF8", "SQL_ASCII"].contains(encoding) else { return }
        throw StoreError.unavailable(
            path: "the database",
            reason: "its encoding \(encoding) lacks characters: create one with ENCODING 'UTF8' TEMPLATE template0")
    }

    /// Refuses a database in which the role may not create the tables.
    private static func checkPermission(
        on connection: PostgresConnection, hasSchema: Bool, within limit: Duration
    ) throws {
        let check =
            hasSchema
            ? "has_schema_privilege('pawl', 'CREATE') AND has_schema_privilege('pawl', 'USAGE')"
            : "has_database_privilege(current_database(), 'CREATE')"
        let grant =
            hasSchema
            ? "'ALTER SCHEMA pawl OWNER TO ' || quote_ident(current_user)"
            : "'CREATE SCHEMA pawl AUTHORIZATION ' || quote_ident(current_user)"
        let remedy = try connection.value("SELECT \(grant) WHERE NOT (\(check))", within: limit)
        guard let remedy else { return }
        throw StoreError.unavailable(
            path: "the database", reason: "the role may not create tables in the schema 'pawl': have its owner run \(remedy)")
    }

    /// Returns the schema version of the database, and the oldest version whose programs may use it; both 0 for a
    /// database without tables, which may have an empty schema.
    private static func versions(
        of connection: PostgresConnection, within limit: Duration
    ) throws -> (schema: Int, oldest: Int, hasSchema: Bool) {
        // Read from the catalogue, because the role may have no permission to use the schema.
        let tables = PostgresStatement(
            "tables",
            """
            SELECT to_regnamespace('pawl') IS NOT NULL,
                EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('pawl') AND relname = 'meta'),
                EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('pawl'))
                OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = to_regnamespace('pawl'))
                OR EXISTS (SELECT FROM pg_type WHERE typnamespace = to_regnamespace('pawl'))
            """)
        let numbers = PostgresStatement(
            "numbers",
            "SELECT max(value) FILTER (WHERE name = 'version'), max(value) FILTER (WHERE name = 'oldest') FROM pawl.meta")
        guard let row = try connection.run([PostgresCommand(tables, [])], within: limit).first?.rows.first,
            row.boolean(0) == true
        else { return (0, 0, false) }
        if row.boolean(2) == false { return (0, 0, true) }
        guard row.boolean(1) == true else { throw StoreError.foreign(path: "the schema 'pawl' of the database") }
        let found = try connection.run([PostgresCommand(numbers, [])], within: limit).first?.rows.first
        guard let version = found?.text(0).flatMap({ Int($0) }), let oldest = found?.text(1).flatMap({ Int($0) }) else {
            throw StoreError.damaged("pawl.meta has no version")
        }
        return (version, oldest, true)
    }
}
