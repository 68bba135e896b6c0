-- The keys of discarded objects, which no other replica receives for a minute. SKIP LOCKED gives several replicas
-- different ones.
UPDATE pawl.discarded_objects SET removable_at = clock_timestamp() + interval '1 minute'
    WHERE key IN (
        SELECT key FROM pawl.discarded_objects WHERE removable_at <= clock_timestamp()
            ORDER BY removable_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
    RETURNING key
