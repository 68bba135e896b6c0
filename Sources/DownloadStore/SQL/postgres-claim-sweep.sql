-- Acquires the sweep, unless it was acquired within the last $1 milliseconds.
INSERT INTO pawl.meta AS kept (name, value)
    VALUES ('swept_at', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text)
    ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
        WHERE kept.value::bigint <= EXCLUDED.value::bigint - $1::bigint
    RETURNING value
