package import DownloadCore
package import System

/// The tables of the record file, and the migration of files of older releases.
///
/// `user_version` is the version of a file's schema. `application_id` identifies files of Pawl.
package enum StoreSchema {
    /// "Pawl" in ASCII.
    static let applicationID: Int64 = 0x5061_776C

    /// The schema version that this release writes.
    package static var version: Int { SchemaFile.sqlite.newestVersion }

    /// Whether no download was ever added. The latest removals stay in the history.
    static let isUnused = """
        SELECT NOT EXISTS (SELECT 1 FROM downloads)
            AND NOT EXISTS (SELECT 1 FROM event_history WHERE removed_id IS NOT NULL)
        """

    /// Migrates the database to the schema of this release.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - directory: The directory of the file; `nil` for the directory in `path`.
    /// - Throws: `StoreError.foreign`, `.unreleased`, `.newerSchema`, or an error of SQLite.
    package static func prepare(
        _ connection: SQLiteConnection, path: String, in directory: Directory? = nil, files: [SchemaFile] = SchemaFile.sqlite
    ) throws(StoreError) {
        try StoreError.translating {
            let owner = try connection.number("PRAGMA application_id")
            let found = try Int(clamping: connection.number("PRAGMA user_version"))
            if owner != applicationID {
                let tables = try connection.number("SELECT count(*) FROM sqlite_schema")
                guard owner == 0, found == 0, tables == 0 else { throw StoreError.foreign(path: path) }
            }
            let (folder, name) = SmallFile.parts(of: path)
            let missing = try files.missing(
                from: found, oldest: found, in: path,
                unreleased: .unreleased(
                    folder, remedy: "keep its finished files elsewhere, and begin with an empty directory"))
            // A downgrade needs the old file, and so does the repair of a failed migration.
            if found > 0, !missing.isEmpty {
                let directory = try directory ?? Directory(opening: folder)
                try RecordBackup.copy(name, of: directory, at: folder, to: "\(name).v\(found)", in: directory, at: folder)
            }
            try configure(connection)
            for file in missing {
                try connection.transaction { () throws(SQLiteError) in
                    try connection.execute(script: file.sql)
                    try connection.execute("PRAGMA user_version = \(file.version)")
                    try connection.execute("PRAGMA application_id = \(applicationID)")
                } failure: {
                    $0
                }
            }
            try connection.execute("PRAGMA temp_store = MEMORY")
        }
    }

    private static func configure(_ connection: SQLiteConnection) throws(SQLiteError) {
        // Free pages leave the file while the store is idle.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        // A commit appends to the log, and is durable once the log's one sync returns.
        _ = try connection.text("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        // After a burst of writes the log shrinks again.
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        // Request headers may hold secrets. Deleted rows are overwritten where that needs no additional writes.
        try connection.execute("PRAGMA secure_delete = FAST")
        // The file may come from anywhere, so nothing in its schema may run.
        try connection.execute("PRAGMA trusted_schema = OFF")
        try connection.execute("PRAGMA cell_size_check = ON")
    }
}
