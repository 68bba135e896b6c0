SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA pawl;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE pawl.downloads (
    id text NOT NULL COLLATE pg_catalog."C",
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
    file_identity text,
    event_epoch bigint NOT NULL,
    event_sequence bigint NOT NULL,
    retry_at bigint,
    retry_wait bigint,
    folder text,
    arrival text COLLATE pg_catalog."C",
    gid bigint,
    part_generation bigint,
    transfer_crashes bigint,
    distrusts_mirrors bigint,
    fingerprints text,
    timeouts text,
    remote_time bigint,
    announced_mirrors text,
    host text NOT NULL,
    owner bigint,
    needs_slot boolean DEFAULT false NOT NULL,
    slot_holder bigint,
    url_digest bytea,
    holds_url boolean DEFAULT false NOT NULL,
    retry text
);
CREATE FUNCTION pawl.claim(me bigint, free integer, host_limit integer) RETURNS SETOF pawl.downloads
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
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
CREATE FUNCTION pawl.claim_subscription(me bigint, subscription text, place text, forced boolean) RETURNS TABLE(number bigint, id text, body text, version bigint)
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION pawl.discard_object() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO pawl.discarded_objects (key) VALUES (OLD.id || '/' || split_part(OLD.file_identity, ':', 2))
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION pawl.encoded(d pawl.downloads) RETURNS text
    LANGUAGE sql STABLE
    AS $$
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
CREATE FUNCTION pawl.fence(me bigint, number bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE pawl.instances SET renewed_at = clock_timestamp(), last_group = number
        WHERE id = me AND last_group = number - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'instance % has lost its lease', me USING ERRCODE = 'PW001';
    END IF;
END $$;
CREATE FUNCTION pawl.identity() RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT (SELECT system_identifier FROM pg_control_system()) || '-' || 'pawl.meta'::regclass::oid
$$;
CREATE FUNCTION pawl.item_counts(id text) RETURNS text
    LANGUAGE sql STABLE
    AS $_$
    SELECT string_agg(state || ' ' || number, ' ') FROM (
        SELECT state, count(*) AS number FROM pawl.subscription_items WHERE subscription = $1 GROUP BY state) AS counts
$_$;
CREATE FUNCTION pawl.publish(me bigint, ids text[], downloads text[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION pawl.reap(me bigint, lease interval) RETURNS TABLE(instance bigint, released bigint)
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION pawl.refuse(id text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'download % belongs to another instance', id USING ERRCODE = 'PW002';
END $$;
CREATE FUNCTION pawl.register(me bigint, directory text, version text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION pawl.release(me bigint, instances bigint[], everything boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION pawl.require_claim(subscription text, number bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM FROM pawl.subscriptions WHERE id = subscription AND claim = number FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another instance changes subscription %', subscription USING ERRCODE = 'PW003';
    END IF;
END $$;
CREATE FUNCTION pawl.retire(me bigint, leaving boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pawl.release(me, ARRAY[me], leaving);
    IF leaving OR NOT EXISTS (SELECT FROM pawl.downloads WHERE owner = me) THEN
        DELETE FROM pawl.instances WHERE id = me;
    END IF;
END $$;
CREATE TABLE pawl.changes (
    sequence bigint NOT NULL,
    instance bigint NOT NULL,
    download_id text NOT NULL COLLATE pg_catalog."C",
    download text,
    published_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE pawl.discarded_objects (
    key text NOT NULL,
    removable_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE pawl.feed_end (
    sequence bigint NOT NULL
);
CREATE TABLE pawl.idempotency_keys (
    key text NOT NULL,
    request_digest bytea NOT NULL,
    outcomes text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE pawl.instances (
    id bigint NOT NULL,
    node text NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    last_group bigint NOT NULL,
    schema_version text NOT NULL
);
CREATE UNLOGGED TABLE pawl.messages (
    number bigint NOT NULL,
    recipient bigint NOT NULL,
    sender bigint NOT NULL,
    body text NOT NULL,
    sent_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE pawl.messages ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pawl.messages_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE pawl.meta (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE pawl.settings (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE pawl.subscription_items (
    subscription text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    date bigint NOT NULL,
    state text NOT NULL,
    reason text,
    url text,
    download text,
    is_made bigint NOT NULL,
    is_by_hand bigint NOT NULL,
    body text NOT NULL
);
CREATE TABLE pawl.subscriptions (
    id text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL,
    version bigint NOT NULL,
    work text,
    holder bigint,
    claim bigint DEFAULT 0 NOT NULL,
    host text
);
CREATE TABLE pawl.webhook_deliveries (
    id text NOT NULL COLLATE pg_catalog."C",
    subject text,
    url text NOT NULL,
    body bytea NOT NULL,
    attempts bigint NOT NULL,
    due_at bigint NOT NULL,
    owner bigint
);
INSERT INTO pawl.changes VALUES (1, 2834663335869119244, '01M8NC4RCW5K386D6M87FPC331', '["01M8NC4RCW5K386D6M87FPC331","http://127.0.0.1:8099/file/2000/whole.bin","queued",null,null,0,null,null,0,0,0,null,null,null,null,null,null,0,"[\"tide\",\"ü\"]",0,"{\"name\":\"Low water\",\"number\":7}","Low water",1796013711772,null,1796013711772,null,0,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"a/b",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.777976+00');
INSERT INTO pawl.changes VALUES (2, 2834663335869119244, '01M8NC4RCW5K386D6M87FPC331', '["01M8NC4RCW5K386D6M87FPC331","http://127.0.0.1:8099/file/2000/whole.bin","downloading",null,null,0,null,null,0,1,1,null,null,null,null,null,null,0,"[\"tide\",\"ü\"]",0,"{\"name\":\"Low water\",\"number\":7}","Low water",1796013711772,1796013711781,1796013711781,null,1,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"a/b",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.783438+00');
INSERT INTO pawl.changes VALUES (3, 2834663335869119244, '01M8NC4RCW5K386D6M87FPC331', '["01M8NC4RCW5K386D6M87FPC331","http://127.0.0.1:8099/file/2000/whole.bin","downloading","whole.bin","application/octet-stream",0,2000,1,0,1,1,null,null,null,null,null,null,0,"[\"tide\",\"ü\"]",0,"{\"name\":\"Low water\",\"number\":7}","Low water",1796013711772,1796013711781,1796013711784,null,2,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"a/b",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.805805+00');
INSERT INTO pawl.changes VALUES (4, 2834663335869119244, '01M8NC4RCW5K386D6M87FPC331', '["01M8NC4RCW5K386D6M87FPC331","http://127.0.0.1:8099/file/2000/whole.bin","completed","whole.bin","application/octet-stream",2000,2000,1,0,1,1,null,null,null,null,null,"0e5c972d35b388eb787e7136e336df5adb670e201fe41fabbca8217430205705",0,"[\"tide\",\"ü\"]",0,"{\"name\":\"Low water\",\"number\":7}","Low water",1796013711772,1796013711781,1796013711787,1796013711787,3,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,"0:2592318208531508398:2000:1796013711787542048",0,0,null,null,"a/b",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.805812+00');
INSERT INTO pawl.changes VALUES (5, 2834663335869119244, '01M8NC4REQAHJ736WPBN66QXY7', '["01M8NC4REQAHJ736WPBN66QXY7","http://127.0.0.1:8099/file/60000/part.bin?pace=8000","queued",null,null,0,null,null,0,0,0,null,null,null,null,null,null,-3,null,0,null,null,1796013711831,null,1796013711831,null,0,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.832398+00');
INSERT INTO pawl.changes VALUES (6, 2834663335869119244, '01M8NC4REQAHJ736WPBN66QXY7', '["01M8NC4REQAHJ736WPBN66QXY7","http://127.0.0.1:8099/file/60000/part.bin?pace=8000","downloading",null,null,0,null,null,0,1,1,null,null,null,null,null,null,-3,null,0,null,null,1796013711831,1796013711834,1796013711834,null,1,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.835605+00');
INSERT INTO pawl.changes VALUES (7, 2834663335869119244, '01M8NC4REQAHJ736WPBN66QXY7', '["01M8NC4REQAHJ736WPBN66QXY7","http://127.0.0.1:8099/file/60000/part.bin?pace=8000","downloading","part.bin","application/octet-stream",0,60000,1,0,1,1,null,null,null,null,null,null,-3,null,0,null,null,1796013711831,1796013711834,1796013711838,null,2,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:51.856226+00');
INSERT INTO pawl.changes VALUES (8, 2834663335869119244, '01M8NC4REQAHJ736WPBN66QXY7', '["01M8NC4REQAHJ736WPBN66QXY7","http://127.0.0.1:8099/file/60000/part.bin?pace=8000","paused","part.bin","application/octet-stream",20040,60000,1,0,1,1,null,null,null,null,null,null,-3,null,0,null,null,1796013711831,1796013711834,1796013714295,null,3,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.296443+00');
INSERT INTO pawl.changes VALUES (9, 2834663335869119244, '01M8NC4TVSVRW30CD3WFW7BDXG', '["01M8NC4TVSVRW30CD3WFW7BDXG","http://127.0.0.1:8099/missing","queued","missing.bin",null,0,null,null,0,0,0,null,null,null,null,null,null,0,null,0,null,null,1796013714297,null,1796013714297,null,0,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.29886+00');
INSERT INTO pawl.changes VALUES (10, 2834663335869119244, '01M8NC4TVSVRW30CD3WFW7BDXG', '["01M8NC4TVSVRW30CD3WFW7BDXG","http://127.0.0.1:8099/missing","downloading","missing.bin",null,0,null,null,0,1,1,null,null,null,null,null,null,0,null,0,null,null,1796013714297,1796013714300,1796013714300,null,1,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.301823+00');
INSERT INTO pawl.changes VALUES (11, 2834663335869119244, '01M8NC4TVSVRW30CD3WFW7BDXG', '["01M8NC4TVSVRW30CD3WFW7BDXG","http://127.0.0.1:8099/missing","failed","missing.bin",null,0,null,null,0,1,1,"http-status","the origin answered 404 Not Found",0,404,null,null,0,null,0,null,null,1796013714297,1796013714300,1796013714302,1796013714302,2,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,null,null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.324407+00');
INSERT INTO pawl.changes VALUES (12, 2834663335869119244, '01M8NC4TXVJZ62SCD8Q4A2E0VE', '["01M8NC4TXVJZ62SCD8Q4A2E0VE","http://127.0.0.1:8099/file/4000/Flood.mp3","queued","2026-11-29 Flood.mp3",null,0,4000,null,0,0,0,null,null,null,null,null,null,0,"[\"subscription:01M8NC4TXJM2PPMXD29823AQZA\"]",0,"{\"id\":\"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19\",\"kind\":\"podcast-episode\",\"name\":\"Flood\",\"artist\":null,\"collection\":\"Tides\",\"genre\":null,\"durationMs\":null,\"releaseDate\":\"2026-11-29T08:00:00Z\",\"explicit\":null,\"artworkUrl\":null,\"pageUrl\":null,\"downloadUrl\":\"http://127.0.0.1:8099/file/4000/Flood.mp3\",\"partCount\":null,\"partOf\":\"feed:http://127.0.0.1:8099/feed.xml\",\"season\":null,\"format\":\"audio/mpeg\",\"bytes\":4000,\"checksum\":null,\"licenseUrl\":null,\"number\":null}","Flood",1796013714363,null,1796013714363,null,0,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"Tides",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.365104+00');
INSERT INTO pawl.changes VALUES (13, 2834663335869119244, '01M8NC4TXVJZ62SCD8Q4A2E0VE', '["01M8NC4TXVJZ62SCD8Q4A2E0VE","http://127.0.0.1:8099/file/4000/Flood.mp3","downloading","2026-11-29 Flood.mp3",null,0,4000,null,0,1,1,null,null,null,null,null,null,0,"[\"subscription:01M8NC4TXJM2PPMXD29823AQZA\"]",0,"{\"id\":\"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19\",\"kind\":\"podcast-episode\",\"name\":\"Flood\",\"artist\":null,\"collection\":\"Tides\",\"genre\":null,\"durationMs\":null,\"releaseDate\":\"2026-11-29T08:00:00Z\",\"explicit\":null,\"artworkUrl\":null,\"pageUrl\":null,\"downloadUrl\":\"http://127.0.0.1:8099/file/4000/Flood.mp3\",\"partCount\":null,\"partOf\":\"feed:http://127.0.0.1:8099/feed.xml\",\"season\":null,\"format\":\"audio/mpeg\",\"bytes\":4000,\"checksum\":null,\"licenseUrl\":null,\"number\":null}","Flood",1796013714363,1796013714365,1796013714365,null,1,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"Tides",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.36626+00');
INSERT INTO pawl.changes VALUES (14, 2834663335869119244, '01M8NC4TXVJZ62SCD8Q4A2E0VE', '["01M8NC4TXVJZ62SCD8Q4A2E0VE","http://127.0.0.1:8099/file/4000/Flood.mp3","downloading","2026-11-29 Flood.mp3","application/octet-stream",0,4000,1,0,1,1,null,null,null,null,null,null,0,"[\"subscription:01M8NC4TXJM2PPMXD29823AQZA\"]",0,"{\"id\":\"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19\",\"kind\":\"podcast-episode\",\"name\":\"Flood\",\"artist\":null,\"collection\":\"Tides\",\"genre\":null,\"durationMs\":null,\"releaseDate\":\"2026-11-29T08:00:00Z\",\"explicit\":null,\"artworkUrl\":null,\"pageUrl\":null,\"downloadUrl\":\"http://127.0.0.1:8099/file/4000/Flood.mp3\",\"partCount\":null,\"partOf\":\"feed:http://127.0.0.1:8099/feed.xml\",\"season\":null,\"format\":\"audio/mpeg\",\"bytes\":4000,\"checksum\":null,\"licenseUrl\":null,\"number\":null}","Flood",1796013714363,1796013714365,1796013714366,null,2,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,null,0,0,null,null,"Tides",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.367434+00');
INSERT INTO pawl.changes VALUES (15, 2834663335869119244, '01M8NC4TXVJZ62SCD8Q4A2E0VE', '["01M8NC4TXVJZ62SCD8Q4A2E0VE","http://127.0.0.1:8099/file/4000/Flood.mp3","completed","2026-11-29 Flood.mp3","application/octet-stream",4000,4000,1,0,1,1,null,null,null,null,null,"84774d3a27c1b61581a9cf3ff54aec628e8e2773437c93717f0e6ad46ee0fc9f",0,"[\"subscription:01M8NC4TXJM2PPMXD29823AQZA\"]",0,"{\"id\":\"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19\",\"kind\":\"podcast-episode\",\"name\":\"Flood\",\"artist\":null,\"collection\":\"Tides\",\"genre\":null,\"durationMs\":null,\"releaseDate\":\"2026-11-29T08:00:00Z\",\"explicit\":null,\"artworkUrl\":null,\"pageUrl\":null,\"downloadUrl\":\"http://127.0.0.1:8099/file/4000/Flood.mp3\",\"partCount\":null,\"partOf\":\"feed:http://127.0.0.1:8099/feed.xml\",\"season\":null,\"format\":\"audio/mpeg\",\"bytes\":4000,\"checksum\":null,\"licenseUrl\":null,\"number\":null}","Flood",1796013714363,1796013714365,1796013714408,1796013714408,3,null,null,null,null,null,null,0,null,null,null,null,null,null,null,null,"0:4295652853381113977:4000:1796013714408285403",0,0,null,null,"Tides",null,null,null,null,null,null,null,null,null,null]', '2026-11-30 04:41:54.412225+00');
INSERT INTO pawl.downloads VALUES ('01M8NC4RCW5K386D6M87FPC331', 'http://127.0.0.1:8099/file/2000/whole.bin', 'completed', 'whole.bin', 'application/octet-stream', 2000, 2000, 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, '\x0e5c972d35b388eb787e7136e336df5adb670e201fe41fabbca8217430205705', 0, '["tide","ü"]', 0, '{"name":"Low water","number":7}', 'Low water', 1796013711772, 1796013711781, 1796013711787, 1796013711787, 3, NULL, NULL, NULL, NULL, NULL, 'http://127.0.0.1:8099/hook', 1, '"whole.bin-2"', NULL, NULL, 2000, NULL, NULL, NULL, NULL, '0:2592318208531508398:2000:1796013711787542048', 0, 0, NULL, NULL, 'a/b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '127.0.0.1:8099', NULL, false, NULL, '\xad812b0f868f437716499feaef4ee9a06099f8d1549fcfc28d7e38b4a0d7dd0d', true, NULL);
INSERT INTO pawl.downloads VALUES ('01M8NC4TVSVRW30CD3WFW7BDXG', 'http://127.0.0.1:8099/missing', 'failed', 'missing.bin', NULL, 0, NULL, NULL, 0, 1, 1, 'http-status', 'the origin answered 404 Not Found', 0, 404, NULL, NULL, 0, NULL, 0, NULL, NULL, 1796013714297, 1796013714300, 1796013714302, 1796013714302, 2, 'missing.bin', NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '127.0.0.1:8099', NULL, false, NULL, '\x37c7ac9e531bf0d3711be5ee9a05bba15ca48fc6578e4ba2e4f8f30b1613b1b5', false, NULL);
INSERT INTO pawl.downloads VALUES ('01M8NC4REQAHJ736WPBN66QXY7', 'http://127.0.0.1:8099/file/60000/part.bin?pace=8000', 'paused', 'part.bin', 'application/octet-stream', 20040, 60000, 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, -3, NULL, 0, NULL, NULL, 1796013711831, 1796013711834, 1796013714295, NULL, 3, NULL, NULL, 1, NULL, NULL, NULL, 1, '"part.bin-2"', NULL, 'Mon, 30 Nov 2026 04:41:51 GMT', 60000, NULL, '[[0,60000,20040]]', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 3791501672345021863, NULL, NULL, '[427368397213227973]', NULL, NULL, NULL, '127.0.0.1:8099', 2834663335869119244, false, NULL, '\xff18ef37570c6057471f7f5ce84580c11109c9e3f9c25ddf47a345c918929a5a', true, NULL);
INSERT INTO pawl.downloads VALUES ('01M8NC4TXVJZ62SCD8Q4A2E0VE', 'http://127.0.0.1:8099/file/4000/Flood.mp3', 'completed', '2026-11-29 Flood.mp3', 'application/octet-stream', 4000, 4000, 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, '\x84774d3a27c1b61581a9cf3ff54aec628e8e2773437c93717f0e6ad46ee0fc9f', 0, '["subscription:01M8NC4TXJM2PPMXD29823AQZA"]', 0, '{"id":"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19","kind":"podcast-episode","name":"Flood","artist":null,"collection":"Tides","genre":null,"durationMs":null,"releaseDate":"2026-11-29T08:00:00Z","explicit":null,"artworkUrl":null,"pageUrl":null,"downloadUrl":"http://127.0.0.1:8099/file/4000/Flood.mp3","partCount":null,"partOf":"feed:http://127.0.0.1:8099/feed.xml","season":null,"format":"audio/mpeg","bytes":4000,"checksum":null,"licenseUrl":null,"number":null}', 'Flood', 1796013714363, 1796013714365, 1796013714408, 1796013714408, 3, '2026-11-29 Flood.mp3', NULL, NULL, NULL, NULL, NULL, 1, '"Flood.mp3-2"', NULL, NULL, 4000, NULL, NULL, NULL, NULL, '0:4295652853381113977:4000:1796013714408285403', 0, 0, NULL, NULL, 'Tides', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '127.0.0.1:8099', NULL, false, NULL, '\xa8f1c03a046b489ef6030743ff77d3568c10f0b4955f10d5298da37f37e9dedd', true, NULL);
INSERT INTO pawl.feed_end VALUES (15);
INSERT INTO pawl.idempotency_keys VALUES ('/file/2000/whole.bin', '\xcbcc5e7783aa01cf077e74908e5947d5c757790cb8371a74a010b7efa12db2fc', '[["created",{"id":"01M8NC4RCW5K386D6M87FPC331","url":"http://127.0.0.1:8099/file/2000/whole.bin","state":"queued","folder":"a/b","labels":["tide","ü"],"track":"{\"name\":\"Low water\",\"number\":7}","createdAt":"2026-11-30T04:41:51.772Z","updatedAt":"2026-11-30T04:41:51.772Z","waitingFor":"turn","position":0,"receivedRanges":[]}]]', 1796013711772);
INSERT INTO pawl.idempotency_keys VALUES ('/file/60000/part.bin?pace=8000', '\x528d066ed0e25755942ba2a93e6a2e835354f68b41220df643447a41fe899cdc', '[["created",{"id":"01M8NC4REQAHJ736WPBN66QXY7","url":"http://127.0.0.1:8099/file/60000/part.bin?pace=8000","state":"queued","priority":-3,"createdAt":"2026-11-30T04:41:51.831Z","updatedAt":"2026-11-30T04:41:51.831Z","waitingFor":"turn","position":0,"receivedRanges":[]}]]', 1796013711831);
INSERT INTO pawl.idempotency_keys VALUES ('/missing', '\xcc3619ebd2d6e6800b1c05f64b4a7cb046f85c798e99da31a36a145bf7dbacc0', '[["created",{"id":"01M8NC4TVSVRW30CD3WFW7BDXG","url":"http://127.0.0.1:8099/missing","state":"queued","filename":"missing.bin","createdAt":"2026-11-30T04:41:54.297Z","updatedAt":"2026-11-30T04:41:54.297Z","waitingFor":"turn","position":0,"receivedRanges":[]}]]', 1796013714297);
INSERT INTO pawl.instances VALUES (2834663335869119244, '01M8NC4R82RR8HAYF0X8031TKQ', '2026-11-30 04:41:54.416364+00', 30, '104');
INSERT INTO pawl.meta VALUES ('epoch', '1796013711678');
INSERT INTO pawl.meta VALUES ('secret', '012d53b7-e0a5-47ba-a4fd-ec5db9e72f451ac68efa-05cf-4d87-8e32-990c85de39f2');
INSERT INTO pawl.meta VALUES ('database', '7713820150615222139-16385');
INSERT INTO pawl.meta VALUES ('version', '104');
INSERT INTO pawl.meta VALUES ('oldest', '101');
INSERT INTO pawl.meta VALUES ('files_location', '7713820150615222139-16385 pawl');
INSERT INTO pawl.settings VALUES ('maxConcurrent', '3');
INSERT INTO pawl.settings VALUES ('speedLimit', '0');
INSERT INTO pawl.subscription_items VALUES ('01M8NC4TXJM2PPMXD29823AQZA', '61e369c8f0604cdb565d8fa81092cf19', 1795939200000, 'taken', NULL, 'http://127.0.0.1:8099/file/4000/Flood.mp3', '01M8NC4TXVJZ62SCD8Q4A2E0VE', 1, 0, '{"track":{"id":"feed:http://127.0.0.1:8099/feed.xml#61e369c8f0604cdb565d8fa81092cf19","kind":"podcast-episode","name":"Flood","artist":null,"collection":"Tides","genre":null,"durationMs":null,"releaseDate":"2026-11-29T08:00:00Z","explicit":null,"artworkUrl":null,"pageUrl":null,"downloadUrl":"=","partCount":null,"partOf":"feed:http://127.0.0.1:8099/feed.xml","season":null,"format":"audio/mpeg","bytes":4000,"checksum":null,"licenseUrl":null,"number":null},"guid":"Flood","folder":["Tides"],"prefix":"2026-11-29","title":"Flood","suffix":".mp3","connections":null}');
INSERT INTO pawl.subscription_items VALUES ('01M8NC4TXJM2PPMXD29823AQZA', '3e8b132fad544d9568485221f2eaf5a3', 1795852800000, 'skipped', 'backlog', 'http://127.0.0.1:8099/file/3000/Ebb.mp3', NULL, 0, 0, '{"track":{"id":"feed:http://127.0.0.1:8099/feed.xml#3e8b132fad544d9568485221f2eaf5a3","kind":"podcast-episode","name":"Ebb","artist":null,"collection":"Tides","genre":null,"durationMs":null,"releaseDate":"2026-11-28T08:00:00Z","explicit":null,"artworkUrl":null,"pageUrl":null,"downloadUrl":"=","partCount":null,"partOf":"feed:http://127.0.0.1:8099/feed.xml","season":null,"format":"audio/mpeg","bytes":3000,"checksum":null,"licenseUrl":null,"number":null},"guid":"Ebb","folder":["Tides"],"prefix":"2026-11-28","title":"Ebb","suffix":".mp3","connections":null}');
INSERT INTO pawl.subscriptions VALUES ('01M8NC4TXJM2PPMXD29823AQZA', '{"feed":"http://127.0.0.1:8099/feed.xml","every":3600,"latest":1,"priority":0,"speedLimit":0,"name":"Tides","key":"09c7caf154be320859a1fd59c722e52f","state":"active","checkedAt":1796013714362,"changedAt":1796013714362,"nextCheckAt":1796015290661,"failures":0,"takenItems":1,"skippedItems":1,"listedAt":1796013714362,"hasListing":true,"createdAt":1796013714354,"updatedAt":1796013714362,"revision":2}', 2, 'd3c7c2db640a5cc4c64b39f00c4e4768e7b953f101b9d15cd66317e6c4fbb146', NULL, 1, '127.0.0.1');
INSERT INTO pawl.webhook_deliveries VALUES ('01M8NC4RDB81HF1B1BQX63V5YQ', '01M8NC4RCW5K386D6M87FPC331', 'http://127.0.0.1:8099/hook', '\x7b2274797065223a22646f776e6c6f61642e636f6d706c65746564222c2274696d657374616d70223a22323032362d31312d33305430343a34313a35312e3738375a222c2264617461223a7b226964223a2230314d384e4334524357354b33383644364d3837465043333331222c2275726c223a22687474703a2f2f3132372e302e302e313a383039392f66696c652f323030302f77686f6c652e62696e222c227374617465223a22636f6d706c65746564222c2266696c656e616d65223a2277686f6c652e62696e222c22666f6c646572223a22612f62222c226d6564696154797065223a226170706c69636174696f6e2f6f637465742d73747265616d222c2262797465735265636569766564223a323030302c226279746573546f74616c223a323030302c2270726f6772657373223a312e302c2262797465735065725365636f6e64223a302c226574615365636f6e6473223a6e756c6c2c22726573756d61626c65223a747275652c227374616c6c6564223a66616c73652c227365676d656e7473223a312c22617474656d707473223a312c226572726f72223a6e756c6c2c22636865636b73756d223a6e756c6c2c22736861323536223a2230653563393732643335623338386562373837653731333665333336646635616462363730653230316665343166616262636138323137343330323035373035222c227072696f72697479223a302c226c6162656c73223a5b2274696465222c22c3bc225d2c2273706565644c696d6974223a302c2274696d656f757473223a6e756c6c2c2272656d6f746554696d65223a6e756c6c2c227265747279223a6e756c6c2c22747261636b223a7b226e616d65223a224c6f77207761746572222c226e756d626572223a377d2c22637265617465644174223a22323032362d31312d33305430343a34313a35312e3737325a222c22737461727465644174223a22323032362d31312d33305430343a34313a35312e3738315a222c22757064617465644174223a22323032362d31312d33305430343a34313a35312e3738375a222c22636f6d706c657465644174223a22323032362d31312d33305430343a34313a35312e3738375a222c2266696c654d697373696e67223a66616c73652c22726563656976656452616e676573223a5b7b227374617274223a302c22656e64223a323030307d5d2c2277616974696e67466f72223a6e756c6c2c22706f736974696f6e223a6e756c6c2c22657870697265734174223a6e756c6c2c226c696e6b73223a7b2273656c66223a222f646f776e6c6f6164732f30314d384e4334524357354b33383644364d3837465043333331222c2266696c65223a222f646f776e6c6f6164732f30314d384e4334524357354b33383644364d38374650433333312f66696c652f77686f6c652e62696e222c226576656e7473223a222f646f776e6c6f6164732f30314d384e4334524357354b33383644364d38374650433333312f6576656e7473227d7d7d', 1, 1796013715118, NULL);
SELECT pg_catalog.setval('pawl.messages_number_seq', 1, false);
ALTER TABLE ONLY pawl.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY pawl.discarded_objects
    ADD CONSTRAINT discarded_objects_pkey PRIMARY KEY (key);
ALTER TABLE ONLY pawl.downloads
    ADD CONSTRAINT downloads_pkey PRIMARY KEY (id);
ALTER TABLE ONLY pawl.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key);
ALTER TABLE ONLY pawl.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY pawl.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (number);
ALTER TABLE ONLY pawl.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY pawl.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY pawl.subscription_items
    ADD CONSTRAINT subscription_items_pkey PRIMARY KEY (subscription, key);
ALTER TABLE ONLY pawl.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY pawl.subscriptions
    ADD CONSTRAINT subscriptions_work_key UNIQUE (work);
ALTER TABLE ONLY pawl.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);
CREATE INDEX discarded_objects_removable_at ON pawl.discarded_objects USING btree (removable_at);
CREATE UNIQUE INDEX downloads_gid ON pawl.downloads USING btree (gid) WHERE (gid IS NOT NULL);
CREATE INDEX downloads_owner ON pawl.downloads USING btree (owner) WHERE (owner IS NOT NULL);
CREATE INDEX downloads_queue ON pawl.downloads USING btree (priority DESC, COALESCE(arrival, id)) WHERE (needs_slot AND (slot_holder IS NULL));
CREATE INDEX downloads_queue_of_host ON pawl.downloads USING btree (host, priority DESC, COALESCE(arrival, id)) WHERE (needs_slot AND (slot_holder IS NULL));
CREATE INDEX downloads_slots ON pawl.downloads USING btree (host) WHERE (slot_holder IS NOT NULL);
CREATE UNIQUE INDEX downloads_url ON pawl.downloads USING btree (url_digest) WHERE holds_url;
CREATE INDEX messages_recipient ON pawl.messages USING btree (recipient);
CREATE INDEX subscription_items_date ON pawl.subscription_items USING btree (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON pawl.subscription_items USING btree (download) WHERE (download IS NOT NULL);
CREATE INDEX subscription_items_state ON pawl.subscription_items USING btree (subscription, state);
CREATE TRIGGER downloads_removed AFTER DELETE ON pawl.downloads FOR EACH ROW WHEN ((old.file_identity ~~ '0:%'::text)) EXECUTE FUNCTION pawl.discard_object();
CREATE TRIGGER downloads_replaced AFTER UPDATE OF file_identity ON pawl.downloads FOR EACH ROW WHEN (((old.file_identity ~~ '0:%'::text) AND (split_part(old.file_identity, ':'::text, 2) IS DISTINCT FROM split_part(new.file_identity, ':'::text, 2)))) EXECUTE FUNCTION pawl.discard_object();
ALTER TABLE ONLY pawl.subscription_items
    ADD CONSTRAINT subscription_items_subscription_fkey FOREIGN KEY (subscription) REFERENCES pawl.subscriptions(id) ON DELETE CASCADE;
