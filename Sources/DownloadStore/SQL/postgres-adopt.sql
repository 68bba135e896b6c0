-- Acquires webhook deliveries of ended instances. SKIP LOCKED gives several replicas different ones.
UPDATE pawl.webhook_deliveries SET owner = $1::bigint
    WHERE id IN (
        SELECT id FROM pawl.webhook_deliveries WHERE owner IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)
    RETURNING id
