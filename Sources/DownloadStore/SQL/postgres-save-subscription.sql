-- Inserts a subscription, or replaces it. A second one for the same work is refused.
INSERT INTO pawl.subscriptions (id, body, version, work)
    VALUES ($1, $2, $3::bigint, encode(sha256(convert_to($4, 'UTF8')), 'hex'))
    ON CONFLICT (id) DO UPDATE SET
        body = EXCLUDED.body, version = EXCLUDED.version,
        work = CASE WHEN subscriptions.work = EXCLUDED.work THEN EXCLUDED.work END
