-- The numbers of leases of length $1 that are held and that have ended.
SELECT count(*) FILTER (WHERE renewed_at >= clock_timestamp() - $1::interval),
    count(*) FILTER (WHERE renewed_at < clock_timestamp() - $1::interval) FROM pawl.instances
