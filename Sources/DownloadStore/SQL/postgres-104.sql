-- The tables of a fleet. Lists and objects are JSON text. Times of records are Unix milliseconds, and their booleans 0
-- or 1, as in SQLite. Ids are compared byte by byte, so that they sort by creation.

-- Values of the whole fleet:
--   version          the version of the schema
--   oldest           the oldest schema version whose releases may use this database
--   epoch            the fleet's epoch in event ids
--   secret           244 random bits that only the fleet's replicas know
--   database         the identity of the database in which the fleet began
--   files_location   the location of finished files, after the identity of the database that it belongs to
--   swept_at         the last sweep for objects that no record names, in Unix milliseconds
CREATE TABLE pawl.meta (
    name text PRIMARY KEY,
    value text NOT NULL
);
-- The identity of the database. A restored or copied database has another table oid, or is in another cluster.
CREATE FUNCTION pawl.identity() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || 'pawl.meta'::regclass::oid
$$;
INSERT INTO pawl.meta (name, value) VALUES
    ('epoch', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text),
    ('secret', gen_random_uuid()::text || gen_random_uuid()::text),
    ('database', pawl.identity());

-- The instances that hold a lease. `node` is the name of the data directory, and `last_group` the number of the last
-- group of changes. `schema_version` is that of the instance's release.
CREATE TABLE pawl.instances (
    id bigint PRIMARY KEY,
    node text NOT NULL,
    renewed_at timestamptz NOT NULL,
    last_group bigint NOT NULL,
    schema_version text NOT NULL
);

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
    segments bigint NOT NULL,
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
    ended_at bigint,
    revision bigint NOT NULL,
    requested_filename text,
    requested_media_type text,
    requested_segments bigint,
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
    -- An object is a file on device 0.
    file_identity text,
    event_epoch bigint NOT NULL,
    event_sequence bigint NOT NULL,
    retry_at bigint,
    retry_wait bigint,
    folder text,
    arrival text COLLATE "C",
    gid bigint,
    part_generation bigint,
    transfer_crashes bigint,
    distrusts_mirrors bigint,
    fingerprints text,
    timeouts text,
    remote_time bigint,
    announced_mirrors text,
    -- The host and port of the URL.
    host text NOT NULL,
    -- The instance that alone may write the record; null if any instance may acquire the download.
    owner bigint,
    -- Whether the download waits for a slot or has one.
    needs_slot boolean NOT NULL DEFAULT false,
    -- The instance that has acquired a slot for the download.
    slot_holder bigint,
    -- The SHA-256 of the URL, which may be too long for an index.
    url_digest bytea,
    -- Whether later requests for the URL receive this download.
    holds_url boolean NOT NULL DEFAULT false,
    -- The choice of when failed attempts are repeated, as a JSON object; null for the service's options.
    retry text
);
CREATE UNIQUE INDEX downloads_url ON pawl.downloads (url_digest) WHERE holds_url;
CREATE UNIQUE INDEX downloads_gid ON pawl.downloads (gid) WHERE gid IS NOT NULL;
CREATE INDEX downloads_owner ON pawl.downloads (owner) WHERE owner IS NOT NULL;
CREATE INDEX downloads_queue ON pawl.downloads (priority DESC, (coalesce(arrival, id)))
    WHERE needs_slot AND slot_holder IS NULL;
CREATE INDEX downloads_queue_of_host ON pawl.downloads (host, priority DESC, (coalesce(arrival, id)))
    WHERE needs_slot AND slot_holder IS NULL;
CREATE INDEX downloads_slots ON pawl.downloads (host) WHERE slot_holder IS NOT NULL;

CREATE TABLE pawl.settings (
    name text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE pawl.idempotency_keys (
    key text PRIMARY KEY,
    request_digest bytea NOT NULL,
    outcomes text NOT NULL,
    created_at bigint NOT NULL
);

-- Each delivery holds the body of its message. `subject` is the download or subscription that it is about; null for the
-- service. `owner` is the instance that sends the delivery; null if any instance may acquire it.
CREATE TABLE pawl.webhook_deliveries (
    id text COLLATE "C" PRIMARY KEY,
    subject text,
    url text NOT NULL,
    body bytea NOT NULL,
    attempts bigint NOT NULL,
    due_at bigint NOT NULL,
    owner bigint
);

-- The change feed, in the order of commits and without gaps: each transaction advances `feed_end` itself. `download` is
-- the encoded download after the change; null if it was removed. Changes older than ten minutes are deleted.
CREATE TABLE pawl.feed_end (sequence bigint NOT NULL);
INSERT INTO pawl.feed_end VALUES (0);
CREATE TABLE pawl.changes (
    sequence bigint PRIMARY KEY,
    instance bigint NOT NULL,
    download_id text COLLATE "C" NOT NULL,
    download text,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Remote commands and replies between instances. The sender repeats a message that gets lost.
CREATE UNLOGGED TABLE pawl.messages (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recipient bigint NOT NULL,
    sender bigint NOT NULL,
    body text NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX messages_recipient ON pawl.messages (recipient);

-- The keys of objects that no record names any more, and the times from which they may be removed.
CREATE TABLE pawl.discarded_objects (
    key text PRIMARY KEY,
    removable_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX discarded_objects_removable_at ON pawl.discarded_objects (removable_at);

CREATE FUNCTION pawl.discard_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pawl.discarded_objects (key) VALUES (OLD.id || '/' || split_part(OLD.file_identity, ':', 2))
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER downloads_removed AFTER DELETE ON pawl.downloads FOR EACH ROW
    WHEN (OLD.file_identity LIKE '0:%') EXECUTE FUNCTION pawl.discard_object();
CREATE TRIGGER downloads_replaced AFTER UPDATE OF file_identity ON pawl.downloads FOR EACH ROW
    WHEN (OLD.file_identity LIKE '0:%'
        AND split_part(OLD.file_identity, ':', 2) IS DISTINCT FROM split_part(NEW.file_identity, ':', 2))
    EXECUTE FUNCTION pawl.discard_object();

-- The fence: renews the lease and counts the group. It refuses the transaction if the instance has lost its lease.
CREATE FUNCTION pawl.fence(me bigint, number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pawl.instances SET renewed_at = clock_timestamp(), last_group = number
        WHERE id = me AND last_group = number - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'instance % has lost its lease', me USING ERRCODE = 'PW001';
    END IF;
END $$;

-- Refuses the transaction, because another instance owns the download.
CREATE FUNCTION pawl.refuse(id text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'download % belongs to another instance', id USING ERRCODE = 'PW002';
END $$;

-- Encodes a record for the change feed: a JSON array of the columns in the order in which a release reads them.
CREATE FUNCTION pawl.encoded(d pawl.downloads) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT json_build_array(
        d.id, d.url, d.state, d.filename, d.media_type, d.bytes_received, d.bytes_total, d.resumable, d.file_missing,
        d.segments, d.attempts, d.error_code, d.error_message, d.error_retryable, d.error_status, d.checksum,
        encode(d.sha256, 'hex'), d.priority, d.labels, d.speed_limit, d.track, d.track_name, d.created_at, d.started_at,
        d.updated_at, d.ended_at, d.revision, d.requested_filename, d.requested_media_type, d.requested_segments,
        d.headers, d.mirrors, d.webhook, d.entity_known, d.entity_etag, d.entity_last_modified, d.entity_date,
        d.entity_total, d.entity_coding, d.synced_segments, d.entity_source, d.entity_digest, d.file_identity,
        d.event_epoch, d.event_sequence, d.retry_at, d.retry_wait, d.folder, d.arrival, d.gid, d.part_generation,
        d.transfer_crashes, d.distrusts_mirrors, d.fingerprints, d.timeouts, d.remote_time,
        d.announced_mirrors, d.retry
    )::text
$$;

-- Publishes changes in the change feed. It is the last statement of a transaction, because it delays all other
-- transactions that publish until this one ends. Returns the sequence number before the first change.
CREATE FUNCTION pawl.publish(me bigint, ids text[], downloads text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    count integer := cardinality(ids);
    base bigint;
BEGIN
    UPDATE pawl.feed_end SET sequence = sequence + count RETURNING sequence - count INTO base;
    INSERT INTO pawl.changes (sequence, instance, download_id, download)
        SELECT base + n, me, id, download FROM unnest(ids, downloads) WITH ORDINALITY AS published (id, download, n);
    PERFORM pg_notify('pawl_changes', (base + count)::text);
    RETURN base;
END $$;

-- Acquires slots for the next downloads of the queue: at most `free` in all, and no more than `host_limit` of one host
-- in the fleet. One instance at a time.
--
-- The settings keep the cost of a slot independent of the queue's length. That also holds if the table was never
-- analysed, or was empty when the statement was planned.
CREATE FUNCTION pawl.claim(me bigint, free integer, host_limit integer) RETURNS SETOF pawl.downloads LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
DECLARE
    front CONSTANT integer := 64;
    candidate record;
    used jsonb;
    count integer;
    chosen text[] := '{}';
    seen integer := 0;
BEGIN
    -- "Pawl" in ASCII, and 2.
    PERFORM pg_advisory_xact_lock(x'5061776C02'::bigint);
    SELECT coalesce(jsonb_object_agg(host, slots), '{}') INTO used
        FROM (SELECT host, count(*) AS slots FROM pawl.downloads WHERE slot_holder IS NOT NULL GROUP BY host) AS taken;
    FOR candidate IN
        SELECT id, host FROM pawl.downloads
            WHERE needs_slot AND slot_holder IS NULL AND (owner IS NULL OR owner = me)
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
        -- The first downloads of the queue wait for a few hosts. The other hosts are searched one by one.
        FOR candidate IN
            WITH RECURSIVE hosts (host) AS (
                (SELECT host FROM pawl.downloads WHERE needs_slot AND slot_holder IS NULL ORDER BY host LIMIT 1)
                UNION ALL
                SELECT (
                    SELECT d.host FROM pawl.downloads AS d
                        WHERE d.needs_slot AND d.slot_holder IS NULL AND d.host > hosts.host ORDER BY d.host LIMIT 1
                ) FROM hosts WHERE hosts.host IS NOT NULL
            ), open (host, room) AS (
                SELECT host, host_limit - coalesce((used ->> host)::integer, 0) FROM hosts
                    WHERE host IS NOT NULL LIMIT 1000
            )
            SELECT best.id FROM open CROSS JOIN LATERAL (
                SELECT id, priority, coalesce(arrival, id) AS arrival FROM pawl.downloads AS d
                    WHERE d.needs_slot AND d.slot_holder IS NULL AND d.host = open.host
                        AND (d.owner IS NULL OR d.owner = me) AND d.id <> ALL (chosen)
                    ORDER BY d.priority DESC, coalesce(d.arrival, d.id) LIMIT open.room
            ) AS best WHERE open.room > 0 ORDER BY best.priority DESC, best.arrival LIMIT free - cardinality(chosen)
        LOOP
            chosen := chosen || candidate.id;
        END LOOP;
    END IF;
    -- `coalesce` keeps PostgreSQL from using the index of the queue. It finds the rows by their ids.
    RETURN QUERY UPDATE pawl.downloads SET owner = me, slot_holder = me
        WHERE id = ANY (chosen) AND (owner IS NULL OR owner = me) AND needs_slot AND coalesce(slot_holder, 0) = 0
        RETURNING *;
END $$;

-- Releases the downloads and deliveries of instances. Their bytes are out of reach, so their transfers begin again.
-- Downloads with bytes are released only if `everything` is true. Returns the number of downloads that begin again.
CREATE FUNCTION pawl.release(me bigint, instances bigint[], everything boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ids text[];
    downloads text[];
BEGIN
    -- An idle download without bytes does not change.
    UPDATE pawl.downloads SET owner = NULL, slot_holder = NULL
        WHERE owner = ANY (instances) AND (state IN ('completed', 'cancelled') OR state IN ('paused', 'failed')
            AND bytes_received = 0 AND synced_segments IS NULL AND entity_known = 0);
    WITH released AS (
        UPDATE pawl.downloads AS d SET
            owner = NULL, slot_holder = NULL, needs_slot = state IN ('queued', 'downloading', 'retrying'),
            state = CASE WHEN state IN ('downloading', 'retrying') THEN 'queued' ELSE state END,
            bytes_received = 0, synced_segments = NULL, fingerprints = NULL, entity_known = 0, retry_at = NULL, retry_wait = NULL,
            revision = revision + 1, updated_at = floor(extract(epoch FROM clock_timestamp()) * 1000)
        WHERE owner = ANY (instances) AND (everything OR synced_segments IS NULL)
        RETURNING d.id, pawl.encoded(d) AS download)
    SELECT coalesce(array_agg(id), '{}'), coalesce(array_agg(download), '{}') INTO ids, downloads FROM released;
    UPDATE pawl.webhook_deliveries SET owner = NULL WHERE owner = ANY (instances);
    DELETE FROM pawl.messages WHERE recipient = ANY (instances);
    IF cardinality(ids) > 0 THEN
        PERFORM pawl.publish(me, ids, downloads);
    END IF;
    RETURN cardinality(ids);
END $$;

-- Ends an instance. It keeps its downloads with bytes until its lease ends or its data directory begins another
-- instance, unless it is `leaving`.
CREATE FUNCTION pawl.retire(me bigint, leaving boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pawl.release(me, ARRAY[me], leaving);
    IF leaving OR NOT EXISTS (SELECT FROM pawl.downloads WHERE owner = me) THEN
        DELETE FROM pawl.instances WHERE id = me;
    END IF;
END $$;

-- Declares instances dead that have not renewed their leases in time, and releases their downloads. It waits for their
-- commits in progress: each of them renews a lease.
CREATE FUNCTION pawl.reap(me bigint, lease interval) RETURNS TABLE (instance bigint, released bigint)
    LANGUAGE plpgsql AS $$
DECLARE
    dead bigint[];
BEGIN
    WITH deleted AS (
        DELETE FROM pawl.instances WHERE renewed_at < clock_timestamp() - lease AND id <> me RETURNING id)
    SELECT coalesce(array_agg(id), '{}') INTO dead FROM deleted;
    IF cardinality(dead) > 0 THEN
        RETURN QUERY SELECT d, pawl.release(me, ARRAY[d], true) FROM unnest(dead) AS ended (d);
    END IF;
END $$;

-- Begins an instance. It acquires the downloads of an earlier instance on the same data directory, which has their
-- bytes. It also acquires the slots of their transfers, so that no later download overtakes them, and recent messages.
CREATE FUNCTION pawl.register(me bigint, directory text, version text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    before bigint[];
BEGIN
    WITH deleted AS (DELETE FROM pawl.instances WHERE node = directory RETURNING id)
    SELECT coalesce(array_agg(id), '{}') INTO before FROM deleted;
    INSERT INTO pawl.instances (id, node, renewed_at, last_group, schema_version)
        VALUES (me, directory, clock_timestamp(), 0, version);
    UPDATE pawl.downloads SET owner = me, needs_slot = slot_holder IS NOT NULL AND state IN ('queued', 'downloading'),
        slot_holder = CASE WHEN slot_holder IS NOT NULL AND state IN ('queued', 'downloading') THEN me END
        WHERE owner = ANY (before);
    UPDATE pawl.webhook_deliveries SET owner = me WHERE owner = ANY (before);
    UPDATE pawl.messages SET recipient = me
        WHERE recipient = ANY (before) AND sent_at > clock_timestamp() - interval '5 seconds';
END $$;

-- The subscriptions, each as a JSON object. `version` counts its changes. `work` is a digest of the work that it was added
-- for; null if it has moved to another one.
--
-- Only the holder of a claim changes a subscription. `claim` counts the claims, so that no change under an earlier one is
-- accepted. A claim ends with the lease of its holder.
CREATE TABLE pawl.subscriptions (
    id text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    version bigint NOT NULL,
    work text UNIQUE,
    holder bigint,
    claim bigint NOT NULL DEFAULT 0,
    host text
);

-- The items that subscriptions have found. `date` orders them, in Unix milliseconds. `body` is a JSON object.
CREATE TABLE pawl.subscription_items (
    subscription text COLLATE "C" NOT NULL REFERENCES pawl.subscriptions (id) ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    date bigint NOT NULL,
    state text NOT NULL,
    reason text,
    url text,
    download text,
    is_made bigint NOT NULL,
    is_by_hand bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (subscription, key)
);
CREATE INDEX subscription_items_date ON pawl.subscription_items (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON pawl.subscription_items (download) WHERE download IS NOT NULL;
CREATE INDEX subscription_items_state ON pawl.subscription_items (subscription, state);

-- Counts the items of a subscription by state: states and numbers, separated by spaces; null without items.
CREATE FUNCTION pawl.item_counts(id text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(state || ' ' || number, ' ') FROM (
        SELECT state, count(*) AS number FROM pawl.subscription_items WHERE subscription = $1 GROUP BY state) AS counts
$$;

-- Claims a subscription whose work comes from `place`. Unless `forced`, it returns no row while another instance has a
-- claim on the subscription, or any instance has one on another subscription of the place.
CREATE FUNCTION pawl.claim_subscription(me bigint, subscription text, place text, forced boolean)
    RETURNS TABLE (number bigint, id text, body text, version bigint) LANGUAGE plpgsql AS $$
BEGIN
    IF NOT forced THEN
        -- "Pawl" in ASCII, and 4. One at a time, so that each one sees the claims of the others.
        PERFORM pg_advisory_xact_lock(x'5061776C04'::bigint);
        IF EXISTS (
            SELECT FROM pawl.subscriptions AS other JOIN pawl.instances ON instances.id = other.holder
                WHERE other.id <> subscription AND other.host = place)
        THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY UPDATE pawl.subscriptions AS s
        SET holder = me, host = place, claim = s.claim + CASE WHEN s.holder = me THEN 0 ELSE 1 END
        WHERE s.id = subscription AND (
            forced OR s.holder IS NULL OR s.holder = me
            OR NOT EXISTS (SELECT FROM pawl.instances WHERE instances.id = s.holder))
        RETURNING s.claim, s.id::text, s.body, s.version;
END $$;

-- Refuses the transaction unless this is the last claim on the subscription. The next claim waits for the transaction.
CREATE FUNCTION pawl.require_claim(subscription text, number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM pawl.subscriptions WHERE id = subscription AND claim = number FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another instance changes subscription %', subscription USING ERRCODE = 'PW003';
    END IF;
END $$;
