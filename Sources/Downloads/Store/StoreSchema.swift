internal import System

/// The tables of the record file, and the migrations of older files.
///
/// `user_version` is the number of migrations that a file has had. `application_id` identifies files of Pawl. A
/// released migration never changes: a new shape is a new migration at the end.
enum StoreSchema {
    /// "Pawl" in ASCII.
    static let applicationID: Int64 = 0x5061_776C

    /// The schema version that this release writes.
    static var version: Int { migrations.count }

    /// Migrates the database to the schema of this release.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - directory: The directory of the file; `nil` for the directory in `path`.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, or an error of SQLite.
    static func prepare(
        _ connection: SQLiteConnection, path: String, in directory: Directory? = nil, migrations: [[String]] = migrations
    ) throws(StoreError) {
        try StoreError.translating {
            let owner = try connection.number("PRAGMA application_id")
            let found = try Int(clamping: connection.number("PRAGMA user_version"))
            if owner != applicationID {
                let tables = try connection.number("SELECT count(*) FROM sqlite_schema")
                guard owner == 0, found == 0, tables == 0 else { throw StoreError.foreign(path: path) }
            }
            guard found <= migrations.count else {
                throw StoreError.newerSchema(path: path, found: found, supported: migrations.count)
            }
            // A downgrade needs the old file, and so does the repair of a failed migration.
            if found > 0, found < migrations.count {
                let (folder, name) = SmallFile.parts(of: path)
                let directory = try directory ?? Directory(opening: folder)
                try RecordBackup.copy(name, of: directory, at: folder, to: "\(name).v\(found)", in: directory, at: folder)
            }
            try configure(connection)
            for version in max(found, 0)..<migrations.count {
                try connection.transaction { () throws(SQLiteError) in
                    for statement in migrations[version] { try connection.execute(statement) }
                    try connection.execute("PRAGMA user_version = \(version + 1)")
                    if version == 0 { try connection.execute("PRAGMA application_id = \(applicationID)") }
                } failure: {
                    $0
                }
            }
        }
    }

    private static func configure(_ connection: SQLiteConnection) throws(SQLiteError) {
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
        try connection.execute("PRAGMA temp_store = MEMORY")
    }

    /// The statements of each migration, in order.
    static let migrations: [[String]] = [
        [
            // Ids grow with time, so new records are appended. Lists and objects are JSON text. Times are Unix
            // milliseconds.
            """
            CREATE TABLE downloads (
                id TEXT NOT NULL PRIMARY KEY,
                url TEXT NOT NULL,
                state TEXT NOT NULL,
                filename TEXT,
                media_type TEXT,
                bytes_received INTEGER NOT NULL,
                bytes_total INTEGER,
                resumable INTEGER,
                file_missing INTEGER NOT NULL,
                connections INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                error_code TEXT,
                error_message TEXT,
                error_retryable INTEGER,
                error_status INTEGER,
                checksum TEXT,
                sha256 BLOB,
                priority INTEGER NOT NULL,
                labels TEXT,
                speed_limit INTEGER NOT NULL,
                track TEXT,
                track_name TEXT,
                created_at INTEGER NOT NULL,
                started_at INTEGER,
                updated_at INTEGER NOT NULL,
                completed_at INTEGER,
                revision INTEGER NOT NULL,
                requested_filename TEXT,
                requested_media_type TEXT,
                requested_connections INTEGER,
                headers TEXT,
                mirrors TEXT,
                webhook TEXT,
                entity_known INTEGER NOT NULL,
                entity_etag TEXT,
                entity_last_modified TEXT,
                entity_date TEXT,
                entity_total INTEGER,
                entity_coding TEXT,
                synced_segments TEXT
            ) WITHOUT ROWID
            """,
            "CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE idempotency_keys (
                key TEXT NOT NULL PRIMARY KEY,
                request_digest BLOB NOT NULL,
                status INTEGER NOT NULL,
                download_id TEXT NOT NULL,
                created_at INTEGER NOT NULL
            ) WITHOUT ROWID
            """,
        ],
        [
            // An outcome may be of several downloads, or a refusal: see `IdempotencyRow`. Nothing was ever stored in
            // the first shape.
            "DROP TABLE idempotency_keys",
            """
            CREATE TABLE idempotency_keys (
                key TEXT NOT NULL PRIMARY KEY,
                request_digest BLOB NOT NULL,
                outcomes TEXT NOT NULL,
                created_at INTEGER NOT NULL
            ) WITHOUT ROWID
            """,
        ],
        [
            """
            CREATE TABLE webhook_deliveries (
                id TEXT NOT NULL PRIMARY KEY,
                download_id TEXT NOT NULL,
                url TEXT NOT NULL,
                body BLOB NOT NULL,
                attempts INTEGER NOT NULL,
                due_at INTEGER NOT NULL
            ) WITHOUT ROWID
            """
        ],
        // The mirror that sent the validators; null if the download's own URL did.
        ["ALTER TABLE downloads ADD COLUMN entity_source TEXT"],
        // The digest of the whole file, as its origin reported it.
        ["ALTER TABLE downloads ADD COLUMN entity_digest TEXT"],
        [
            // The identity of the finished file.
            "ALTER TABLE downloads ADD COLUMN file_identity TEXT",
            // The time before which the origin must not be contacted again.
            "ALTER TABLE downloads ADD COLUMN retry_at INTEGER",
            // The event id of the last change.
            "ALTER TABLE downloads ADD COLUMN event_epoch INTEGER",
            "ALTER TABLE downloads ADD COLUMN event_sequence INTEGER",
            // The latest beginnings of epochs, where `removed_id` is null, and the latest removals. All removals after
            // the event id of the oldest row are here.
            """
            CREATE TABLE event_history (
                number INTEGER NOT NULL PRIMARY KEY,
                epoch INTEGER NOT NULL,
                sequence INTEGER NOT NULL,
                removed_id TEXT
            )
            """,
        ],
        // A delivery holds its download; see `DownloadSnapshot`.
        ["ALTER TABLE webhook_deliveries RENAME COLUMN body TO download"],
        // The folder of the finished file; null for `files` itself.
        ["ALTER TABLE downloads ADD COLUMN folder TEXT"],
        [
            // The arrival in the queue; null for the download's own id. See `QueueRank`.
            "ALTER TABLE downloads ADD COLUMN arrival TEXT",
            // The gid in aria2's RPC; null if the client did not choose one.
            "ALTER TABLE downloads ADD COLUMN gid INTEGER",
        ],
        [
            // The generation in the part file's name; null if the name has none.
            "ALTER TABLE downloads ADD COLUMN part_generation INTEGER",
            // The number of consecutive crashes during which the download was in transfer; null for none.
            "ALTER TABLE downloads ADD COLUMN transfer_crashes INTEGER",
            // 1 after a file with bytes of a mirror has failed its checksum.
            "ALTER TABLE downloads ADD COLUMN distrusts_mirrors INTEGER",
            // The length in milliseconds of the wait that ends at `retry_at`.
            "ALTER TABLE downloads ADD COLUMN retry_wait INTEGER",
        ],
    ]
}
