internal import System

/// The shape of the record file, and how older files come to it.
///
/// `user_version` is the number of migrations a file has been through; `application_id` tells the file is ours. A migration
/// is never changed once released: a new shape is a new migration at the end.
enum StoreSchema {
    /// "Pawl" in ASCII.
    static let applicationID: Int64 = 0x5061_776C

    /// The version this release writes.
    static var version: Int { migrations.count }

    /// Brings the database to this release's shape.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - directory: the directory that it is in; `nil`: the one that its path leads to.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, and what SQLite has to say.
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
            // What a downgrade needs, and whoever finds fault with what becomes of it.
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
        // Commits append to a log and are durable when its one sync returns.
        _ = try connection.text("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = FULL")
        // After a burst the log gives its space back rather than keeping its largest size for ever.
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        // Request headers may be secrets: what is deleted is overwritten where that needs no further writes.
        try connection.execute("PRAGMA secure_delete = FAST")
        // The file may come from anywhere: believe nothing in it that could run.
        try connection.execute("PRAGMA trusted_schema = OFF")
        try connection.execute("PRAGMA cell_size_check = ON")
        try connection.execute("PRAGMA temp_store = MEMORY")
    }

    /// The statements of each migration, in order.
    static let migrations: [[String]] = [
        [
            // Identifiers grow, so new records are appended; lists and objects are JSON text; times are Unix milliseconds.
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
            // A response may tell of many downloads, and of refusals: see `IdempotencyRow`. Nothing was ever kept in the first shape.
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
        // The mirror whose validators are kept, where the download's own URL was of no use.
        ["ALTER TABLE downloads ADD COLUMN entity_source TEXT"],
        // What the whole file hashes to, says its origin.
        ["ALTER TABLE downloads ADD COLUMN entity_digest TEXT"],
        [
            // Which file a finished download is.
            "ALTER TABLE downloads ADD COLUMN file_identity TEXT",
            // Before when the origin does not want to be asked again.
            "ALTER TABLE downloads ADD COLUMN retry_at INTEGER",
            // The stamp of the last change, as event ids have it.
            "ALTER TABLE downloads ADD COLUMN event_epoch INTEGER",
            "ALTER TABLE downloads ADD COLUMN event_sequence INTEGER",
            // The beginning of each run, where `removed_id` is null, and each removal: the last ones. All removals after the oldest
            // row's stamp are here.
            """
            CREATE TABLE event_history (
                number INTEGER NOT NULL PRIMARY KEY,
                epoch INTEGER NOT NULL,
                sequence INTEGER NOT NULL,
                removed_id TEXT
            )
            """,
        ],
        // A message is the download that it tells of; see `DownloadSnapshot`.
        ["ALTER TABLE webhook_deliveries RENAME COLUMN body TO download"],
        // The directory of the finished file; null for `files` itself.
        ["ALTER TABLE downloads ADD COLUMN folder TEXT"],
        [
            // As what it has arrived in the queue, where that is not its own identity; see `QueueRank`.
            "ALTER TABLE downloads ADD COLUMN arrival TEXT",
            // The name in aria2's RPC, where the client chose it.
            "ALTER TABLE downloads ADD COLUMN gid INTEGER",
        ],
        [
            // The number in the part file's name; null where the name has none.
            "ALTER TABLE downloads ADD COLUMN part_generation INTEGER",
            // Crashes in a row during which the download was in transfer; null for none.
            "ALTER TABLE downloads ADD COLUMN transfer_crashes INTEGER",
            // 1 once a file with bytes of a mirror has failed its checksum.
            "ALTER TABLE downloads ADD COLUMN distrusts_mirrors INTEGER",
            // How many milliseconds the wait lasts that ends at `retry_at`.
            "ALTER TABLE downloads ADD COLUMN retry_wait INTEGER",
        ],
    ]
}
