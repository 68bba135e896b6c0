-- Stores the location of finished files if none is stored for this database, or if $2. Returns the stored location.
INSERT INTO pawl.meta AS kept (name, value) VALUES ('files_location', pawl.identity() || ' ' || $1)
    ON CONFLICT (name) DO UPDATE SET value = CASE
        WHEN $2::boolean OR NOT starts_with(kept.value, pawl.identity() || ' ') THEN EXCLUDED.value ELSE kept.value END
    RETURNING substr(value, length(pawl.identity() || ' ') + 1)
