-- The choice of when failed attempts are repeated, as a JSON object; null for the service's options.
ALTER TABLE pawl.downloads ADD COLUMN retry text;

-- Encodes a record for the change feed: a JSON array of the columns in the order in which a release reads them.
CREATE OR REPLACE FUNCTION pawl.encoded(d pawl.downloads) RETURNS text LANGUAGE sql STABLE AS $$
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
