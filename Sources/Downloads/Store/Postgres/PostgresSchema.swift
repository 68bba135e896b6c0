internal import Postgres

/// The tables of a fleet, all in the schema `pawl`, and the migrations of older databases.
///
/// Replicas of two releases run side by side during an upgrade, so a migration only adds, and statements name their
/// columns. A part that an older release needs is removed one release after the last that used it. `oldest` in
/// `pawl.meta` is then raised.
enum PostgresSchema {
    /// The schema version that this release writes.
    static var version: Int { migrations.count }

    /// The oldest schema version whose release may run beside this one.
    static let oldestBeside = 1

    /// The oldest supported PostgreSQL, in the numbering of `server_version_num`.
    static let oldestServer = 130_000

    /// The keys of the advisory locks: "Pawl" in ASCII, followed by a number.
    static let migrationLock: Int64 = 0x5061_776C_01
    private static let claimLock: Int64 = 0x5061_776C_02
    /// Held from the comparison of settings to their change.
    static let settingsLock: Int64 = 0x5061_776C_03

    /// Migrates the database to the schema of this release. Several replicas may do so concurrently.
    ///
    /// - Parameter isFounding: Whether a new fleet is created in an empty database.
    /// - Throws: `StoreError.newerSchema`, `.foreign`, `.unavailable`, or an error of PostgreSQL.
    static func prepare(
        _ connection: PostgresConnection, within limit: Duration, isFounding: Bool = true, migrations: [String] = migrations
    ) throws(StoreError) {
        guard connection.serverVersion >= oldestServer else {
            let found = "\(connection.serverVersion / 10_000)"
            throw .unavailable(path: "the database", reason: "PostgreSQL \(found) is too old: 13 or newer is needed")
        }
        try StoreError.translating {
            try connection.execute("SELECT pg_advisory_lock(\(migrationLock))", within: limit)
            let found = try kept(connection, within: limit)
            guard found.version > 0 || isFounding else {
                throw StoreError.unavailable(path: "the database", reason: "no fleet has records in it")
            }
            guard found.oldest <= migrations.count else {
                throw StoreError.newerSchema(path: "the database", found: found.version, supported: migrations.count)
            }
            for version in found.version..<max(found.version, migrations.count) {
                // A string with several statements is one transaction.
                let note = """
                    ;
                    INSERT INTO pawl.meta (name, value) VALUES ('version', '\(version + 1)'), ('oldest', '\(oldestBeside)')
                        ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
                    """
                try connection.execute(migrations[version] + note, within: limit)
            }
            try connection.execute("SELECT pg_advisory_unlock(\(migrationLock))", within: limit)
        }
    }

    /// Returns the schema version of the database, and the oldest version that may use it; both 0 for an empty
    /// database.
    private static func kept(_ connection: PostgresConnection, within limit: Duration) throws -> (version: Int, oldest: Int) {
        let tables = PostgresStatement(
            "tables", "SELECT to_regnamespace('pawl') IS NOT NULL, to_regclass('pawl.meta') IS NOT NULL")
        let numbers = PostgresStatement(
            "numbers",
            "SELECT max(value) FILTER (WHERE name = 'version'), max(value) FILTER (WHERE name = 'oldest') FROM pawl.meta")
        guard let row = try connection.run([PostgresCommand(tables, [])], within: limit).first?.rows.first,
            row.boolean(0) == true
        else { return (0, 0) }
        guard row.boolean(1) == true else { throw StoreError.foreign(path: "the schema 'pawl' of the database") }
        let kept = try connection.run([PostgresCommand(numbers, [])], within: limit).first?.rows.first
        guard let version = kept?.text(0).flatMap({ Int($0) }), let oldest = kept?.text(1).flatMap({ Int($0) }) else {
            throw StoreError.damaged("pawl.meta does not tell the version")
        }
        return (version, oldest)
    }

    /// SQL for the identity of the database. A restored or copied database has another table oid, or is in another
    /// cluster.
    static let identity = "(SELECT system_identifier FROM pg_control_system()) || '-' || 'pawl.meta'::regclass::oid"

    /// Returns the SQL of the function `pawl.claim`, which grants slots.
    /// - Parameters:
    ///   - isFree: The SQL condition that a chosen download is still free. It is written so that PostgreSQL finds the
    ///     row by its id.
    ///   - settings: The function's `SET` clauses.
    private static func claimFunction(isFree: String, settings: String = "") -> String {
        """
        -- Gives turns to those of the line that may start: at most `free`, and of each host so many that it has no more than `host_limit`.
        -- One replica at a time.
        CREATE OR REPLACE FUNCTION pawl.claim(me bigint, free integer, host_limit integer) RETURNS SETOF pawl.downloads
            LANGUAGE plpgsql \(settings) AS $$
        DECLARE
            front CONSTANT integer := 64;
            candidate record;
            used jsonb;
            count integer;
            chosen text[] := '{}';
            seen integer := 0;
        BEGIN
            PERFORM pg_advisory_xact_lock(\(claimLock));
            SELECT coalesce(jsonb_object_agg(host, slots), '{}') INTO used
                FROM (SELECT host, count(*) AS slots FROM pawl.downloads WHERE slot IS NOT NULL GROUP BY host) AS taken;
            FOR candidate IN
                SELECT id, host FROM pawl.downloads WHERE waiting AND slot IS NULL AND (owner IS NULL OR owner = me)
                    ORDER BY priority DESC, coalesce(arrival, id) LIMIT front
            LOOP
                EXIT WHEN cardinality(chosen) >= free;
                seen := seen + 1;
                count := coalesce((used ->> candidate.host)::integer, 0);
                CONTINUE WHEN count >= host_limit;
                used := used || jsonb_build_object(candidate.host, count + 1);
                chosen := chosen || candidate.id;
            END LOOP;
            IF seen >= front AND cardinality(chosen) < free THEN
                -- The front of the line waits for a few hosts: the others, host by host.
                FOR candidate IN
                    WITH RECURSIVE hosts (host) AS (
                        (SELECT host FROM pawl.downloads WHERE waiting AND slot IS NULL ORDER BY host LIMIT 1)
                        UNION ALL
                        SELECT (
                            SELECT d.host FROM pawl.downloads AS d
                                WHERE d.waiting AND d.slot IS NULL AND d.host > hosts.host ORDER BY d.host LIMIT 1
                        ) FROM hosts WHERE hosts.host IS NOT NULL
                    ), open (host, room) AS (
                        SELECT host, host_limit - coalesce((used ->> host)::integer, 0) FROM hosts
                            WHERE host IS NOT NULL LIMIT 1000
                    )
                    SELECT best.id FROM open CROSS JOIN LATERAL (
                        SELECT id, priority, coalesce(arrival, id) AS place FROM pawl.downloads AS d
                            WHERE d.waiting AND d.slot IS NULL AND d.host = open.host AND (d.owner IS NULL OR d.owner = me)
                                AND d.id <> ALL (chosen)
                            ORDER BY d.priority DESC, coalesce(d.arrival, d.id) LIMIT open.room
                    ) AS best WHERE open.room > 0 ORDER BY best.priority DESC, best.place LIMIT free - cardinality(chosen)
                LOOP
                    chosen := chosen || candidate.id;
                END LOOP;
            END IF;
            RETURN QUERY UPDATE pawl.downloads SET owner = me, slot = me
                WHERE id = ANY (chosen) AND (owner IS NULL OR owner = me) AND \(isFree) RETURNING *;
        END $$;
        """
    }

    /// The statements of each migration, in order.
    static let migrations = [
        // Ids are compared byte by byte, so that they sort by creation. As in SQLite, lists and objects are JSON text,
        // and times are Unix milliseconds.
        """
        CREATE SCHEMA pawl;
        CREATE TABLE pawl.meta (name text PRIMARY KEY, value text NOT NULL);
        -- Names all events of this fleet.
        INSERT INTO pawl.meta VALUES ('epoch', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text);
        -- 244 random bits that only its replicas know.
        INSERT INTO pawl.meta VALUES ('secret', gen_random_uuid()::text || gen_random_uuid()::text);

        -- The runs that live: one process's life each. `node` names a data directory, `last_group` its last group of changes.
        CREATE TABLE pawl.replicas (
            run bigint PRIMARY KEY,
            node text NOT NULL,
            heartbeat timestamptz NOT NULL,
            last_group bigint NOT NULL,
            release text NOT NULL
        );

        -- `is_first`: who asks for the URL with this digest is given this one.
        -- `owner` is the run that alone may write the record; null: whoever takes it. `waiting`: it asks for a turn; `slot`: the run
        -- that it has got one of.
        CREATE TABLE pawl.downloads (
            id text COLLATE "C" PRIMARY KEY,
            url text NOT NULL,
            state text NOT NULL,
            filename text,
            media_type text,
            bytes_received bigint NOT NULL,
            bytes_total bigint,
            resumable bigint,
            file_missing bigint NOT NULL,
            connections bigint NOT NULL,
            attempts bigint NOT NULL,
            error_code text,
            error_message text,
            error_retryable bigint,
            error_status bigint,
            checksum text,
            sha256 bytea,
            priority bigint NOT NULL,
            labels text,
            speed_limit bigint NOT NULL,
            track text,
            track_name text,
            created_at bigint NOT NULL,
            started_at bigint,
            updated_at bigint NOT NULL,
            completed_at bigint,
            revision bigint NOT NULL,
            requested_filename text,
            requested_media_type text,
            requested_connections bigint,
            headers text,
            mirrors text,
            webhook text,
            entity_known bigint NOT NULL,
            entity_etag text,
            entity_last_modified text,
            entity_date text,
            entity_total bigint,
            entity_coding text,
            synced_segments text,
            entity_source text,
            entity_digest text,
            file_identity text,
            event_epoch bigint,
            event_sequence bigint,
            retry_at bigint,
            folder text,
            arrival text COLLATE "C",
            gid bigint,
            owner bigint,
            host text NOT NULL,
            url_digest bytea,
            is_first boolean NOT NULL DEFAULT false,
            waiting boolean NOT NULL DEFAULT false,
            slot bigint
        );
        CREATE UNIQUE INDEX downloads_first ON pawl.downloads (url_digest) WHERE is_first;
        CREATE INDEX downloads_owner ON pawl.downloads (owner) WHERE owner IS NOT NULL;
        CREATE INDEX downloads_line ON pawl.downloads (priority DESC, (coalesce(arrival, id)))
            WHERE waiting AND slot IS NULL;
        CREATE INDEX downloads_line_of_host ON pawl.downloads (host, priority DESC, (coalesce(arrival, id)))
            WHERE waiting AND slot IS NULL;
        CREATE INDEX downloads_slot ON pawl.downloads (host) WHERE slot IS NOT NULL;

        CREATE TABLE pawl.settings (name text PRIMARY KEY, value text NOT NULL);
        CREATE TABLE pawl.idempotency_keys (
            key text PRIMARY KEY,
            request_digest bytea NOT NULL,
            outcomes text NOT NULL,
            created_at bigint NOT NULL
        );
        CREATE TABLE pawl.webhook_deliveries (
            id text COLLATE "C" PRIMARY KEY,
            download_id text NOT NULL,
            url text NOT NULL,
            download bytea NOT NULL,
            attempts bigint NOT NULL,
            due_at bigint NOT NULL,
            owner bigint
        );

        -- What happened, in the order of commits and without gaps: `clock` is counted up by the transaction itself. `body` is null for a
        -- removal. What is older than ten minutes goes.
        CREATE TABLE pawl.clock (seq bigint NOT NULL);
        INSERT INTO pawl.clock VALUES (0);
        CREATE TABLE pawl.changes (
            seq bigint PRIMARY KEY,
            run bigint NOT NULL,
            id text COLLATE "C" NOT NULL,
            body text,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );

        -- Letters between runs: commands for downloads that another one owns, and the answers. Who loses one asks again.
        CREATE UNLOGGED TABLE pawl.mail (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            recipient bigint NOT NULL,
            sender bigint NOT NULL,
            body text NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        CREATE INDEX mail_recipient ON pawl.mail (recipient);

        -- Objects that no record names any more, and from when on they may be removed. An object is a file on device 0.
        CREATE TABLE pawl.garbage (key text PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp());
        CREATE INDEX garbage_at ON pawl.garbage (at);
        CREATE FUNCTION pawl.discard() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO pawl.garbage (key) VALUES (OLD.id || '/' || split_part(OLD.file_identity, ':', 2)) ON CONFLICT DO NOTHING;
            RETURN NULL;
        END $$;
        CREATE TRIGGER downloads_removed AFTER DELETE ON pawl.downloads FOR EACH ROW
            WHEN (OLD.file_identity LIKE '0:%') EXECUTE FUNCTION pawl.discard();
        CREATE TRIGGER downloads_replaced AFTER UPDATE OF file_identity ON pawl.downloads FOR EACH ROW
            WHEN (OLD.file_identity LIKE '0:%' AND split_part(OLD.file_identity, ':', 2) IS DISTINCT FROM
                split_part(NEW.file_identity, ':', 2)) EXECUTE FUNCTION pawl.discard();

        CREATE FUNCTION pawl.fence(me bigint, number bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE pawl.replicas SET heartbeat = clock_timestamp(), last_group = number
                WHERE run = me AND last_group = number - 1;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'run % has lost its lease', me USING ERRCODE = 'PW001';
            END IF;
        END $$;

        -- In the place of an owner, where another one has the record.
        CREATE FUNCTION pawl.refuse(id text) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'download % belongs to another run', id USING ERRCODE = 'PW002';
        END $$;

        -- A record as `pawl.changes` tells it: the columns that a release reads, in its order, as a JSON array.
        CREATE FUNCTION pawl.body(d pawl.downloads) RETURNS text LANGUAGE sql STABLE AS $$
            SELECT json_build_array(
                d.id, d.url, d.state, d.filename, d.media_type, d.bytes_received, d.bytes_total, d.resumable, d.file_missing,
                d.connections, d.attempts, d.error_code, d.error_message, d.error_retryable, d.error_status, d.checksum,
                encode(d.sha256, 'hex'), d.priority, d.labels, d.speed_limit, d.track, d.track_name, d.created_at,
                d.started_at, d.updated_at, d.completed_at, d.revision, d.requested_filename, d.requested_media_type,
                d.requested_connections, d.headers, d.mirrors, d.webhook, d.entity_known, d.entity_etag,
                d.entity_last_modified, d.entity_date, d.entity_total, d.entity_coding, d.synced_segments, d.entity_source,
                d.entity_digest, d.file_identity, d.event_epoch, d.event_sequence, d.retry_at, d.folder, d.arrival, d.gid
            )::text
        $$;

        -- Counts the clock up and tells everybody; the last statement of a transaction, which holds up others from here to its end.
        -- Returns the number before the first change.
        CREATE FUNCTION pawl.tell(me bigint, ids text[], bodies text[]) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            count integer := cardinality(ids);
            base bigint;
        BEGIN
            UPDATE pawl.clock SET seq = seq + count RETURNING seq - count INTO base;
            INSERT INTO pawl.changes (seq, run, id, body)
                SELECT base + n, me, id, body FROM unnest(ids, bodies) WITH ORDINALITY AS told (id, body, n);
            PERFORM pg_notify('pawl_changes', (base + count)::text);
            RETURN base;
        END $$;

        \(claimFunction(isFree: "waiting AND slot IS NULL"))

        -- Frees what runs had: their bytes are out of reach, so their transfers start over. `everything`: those with bytes, too.
        CREATE FUNCTION pawl.free(me bigint, runs bigint[], everything boolean) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            ids text[];
            bodies text[];
        BEGIN
            -- Nothing changes about what rests and has no bytes.
            UPDATE pawl.downloads SET owner = NULL, slot = NULL WHERE owner = ANY (runs) AND (state IN ('completed', 'cancelled')
                OR state IN ('paused', 'failed') AND bytes_received = 0 AND synced_segments IS NULL AND entity_known = 0);
            WITH freed AS (
                UPDATE pawl.downloads AS d SET
                    owner = NULL, slot = NULL, waiting = state IN ('queued', 'downloading', 'retrying'),
                    state = CASE WHEN state IN ('downloading', 'retrying') THEN 'queued' ELSE state END,
                    bytes_received = 0, synced_segments = NULL, entity_known = 0, retry_at = NULL,
                    revision = revision + 1,
                    updated_at = floor(extract(epoch FROM clock_timestamp()) * 1000)
                WHERE owner = ANY (runs) AND (everything OR synced_segments IS NULL)
                RETURNING d.id, pawl.body(d) AS body)
            SELECT coalesce(array_agg(id), '{}'), coalesce(array_agg(body), '{}') INTO ids, bodies FROM freed;
            UPDATE pawl.webhook_deliveries SET owner = NULL WHERE owner = ANY (runs);
            DELETE FROM pawl.mail WHERE recipient = ANY (runs);
            IF cardinality(ids) > 0 THEN
                PERFORM pawl.tell(me, ids, bodies);
            END IF;
            RETURN cardinality(ids);
        END $$;

        -- A run ends. What it keeps bytes of stays its own until its lease ends, or it begins anew on the same data directory.
        CREATE FUNCTION pawl.retire(me bigint, leaving boolean) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pawl.free(me, ARRAY[me], leaving);
            IF leaving OR NOT EXISTS (SELECT FROM pawl.downloads WHERE owner = me) THEN
                DELETE FROM pawl.replicas WHERE run = me;
            END IF;
        END $$;

        -- Declares those dead that have not been heard of for so long, and frees what they had. A write that is under way is waited for:
        -- then it counts, and its run lives.
        CREATE FUNCTION pawl.reap(me bigint, lease interval) RETURNS TABLE (run bigint, freed bigint) LANGUAGE plpgsql AS $$
        #variable_conflict use_column
        DECLARE
            runs bigint[];
        BEGIN
            WITH dead AS (
                DELETE FROM pawl.replicas WHERE heartbeat < clock_timestamp() - lease AND run <> me RETURNING run)
            SELECT coalesce(array_agg(run), '{}') INTO runs FROM dead;
            IF cardinality(runs) > 0 THEN
                RETURN QUERY SELECT r, pawl.free(me, ARRAY[r], true) FROM unnest(runs) AS gone (r);
            END IF;
        END $$;

        -- Begins a run. What an earlier one on the same data directory had is its own from now on, with the bytes.
        CREATE FUNCTION pawl.enrol(me bigint, place text, version text) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
        DECLARE
            before bigint[];
        BEGIN
            WITH gone AS (DELETE FROM pawl.replicas WHERE node = place RETURNING run)
            SELECT coalesce(array_agg(run), '{}') INTO before FROM gone;
            INSERT INTO pawl.replicas (run, node, heartbeat, last_group, release)
                VALUES (me, place, clock_timestamp(), 0, version);
            UPDATE pawl.downloads SET owner = me, slot = NULL, waiting = false WHERE owner = ANY (before);
            UPDATE pawl.webhook_deliveries SET owner = me WHERE owner = ANY (before);
            RETURN QUERY SELECT unnest(before);
        END $$;
        """,
        // The settings keep the cost of a slot independent of the queue's length. That also holds if the table was
        // never analysed, or was empty when the statement was planned.
        """
        \(claimFunction(
            isFree: "waiting AND coalesce(slot, 0) = 0",
            settings: "SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off"))

        -- A copy of this database names its events otherwise.
        INSERT INTO pawl.meta (name, value) SELECT 'origin', \(identity);

        -- A name that a client of aria2 has chosen is one download's.
        UPDATE pawl.downloads AS later SET gid = NULL WHERE EXISTS (
            SELECT FROM pawl.downloads AS earlier WHERE earlier.gid = later.gid AND earlier.id < later.id);
        CREATE UNIQUE INDEX downloads_gid ON pawl.downloads (gid) WHERE gid IS NOT NULL;

        -- Begins a run. What an earlier one on the same data directory had is its own from now on, with the bytes, with the turns of what
        -- it transferred, so that nothing newer overtakes that, and with letters that have just come.
        CREATE FUNCTION pawl.enlist(me bigint, place text, version text) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
        DECLARE
            before bigint[];
        BEGIN
            WITH gone AS (DELETE FROM pawl.replicas WHERE node = place RETURNING run)
            SELECT coalesce(array_agg(run), '{}') INTO before FROM gone;
            INSERT INTO pawl.replicas (run, node, heartbeat, last_group, release)
                VALUES (me, place, clock_timestamp(), 0, version);
            UPDATE pawl.downloads SET owner = me, waiting = slot IS NOT NULL AND state IN ('queued', 'downloading'),
                slot = CASE WHEN slot IS NOT NULL AND state IN ('queued', 'downloading') THEN me END
                WHERE owner = ANY (before);
            UPDATE pawl.webhook_deliveries SET owner = me WHERE owner = ANY (before);
            UPDATE pawl.mail SET recipient = me WHERE recipient = ANY (before) AND at > clock_timestamp() - interval '5 seconds';
            RETURN QUERY SELECT unnest(before);
        END $$;
        """,
        """
        -- As in SQLite: see `StoreSchema`.
        ALTER TABLE pawl.downloads
            ADD COLUMN part_generation bigint, ADD COLUMN transfer_crashes bigint, ADD COLUMN distrusts_mirrors bigint,
            ADD COLUMN retry_wait bigint;

        CREATE OR REPLACE FUNCTION pawl.body(d pawl.downloads) RETURNS text LANGUAGE sql STABLE AS $$
            SELECT json_build_array(
                d.id, d.url, d.state, d.filename, d.media_type, d.bytes_received, d.bytes_total, d.resumable, d.file_missing,
                d.connections, d.attempts, d.error_code, d.error_message, d.error_retryable, d.error_status, d.checksum,
                encode(d.sha256, 'hex'), d.priority, d.labels, d.speed_limit, d.track, d.track_name, d.created_at,
                d.started_at, d.updated_at, d.completed_at, d.revision, d.requested_filename, d.requested_media_type,
                d.requested_connections, d.headers, d.mirrors, d.webhook, d.entity_known, d.entity_etag,
                d.entity_last_modified, d.entity_date, d.entity_total, d.entity_coding, d.synced_segments, d.entity_source,
                d.entity_digest, d.file_identity, d.event_epoch, d.event_sequence, d.retry_at, d.folder, d.arrival, d.gid,
                d.part_generation, d.transfer_crashes, d.distrusts_mirrors, d.retry_wait
            )::text
        $$;
        """,
    ]
}
