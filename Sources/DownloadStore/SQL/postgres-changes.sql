-- A page of the change log, with the ages of its changes in microseconds.
SELECT sequence, download_id, download,
    floor(extract(epoch FROM clock_timestamp() - published_at) * 1000000)::bigint
    FROM pawl.changes WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
