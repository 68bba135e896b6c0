INSERT INTO pawl.subscription_items
        (subscription, key, date, state, reason, url, download, is_made, is_by_hand, body)
    SELECT $1, $2, $3::bigint, $4, $5, $6, $7, $8::bigint, $9::bigint, $10
        WHERE EXISTS (SELECT FROM pawl.subscriptions WHERE id = $1)
    ON CONFLICT (subscription, key) DO UPDATE SET
        date = EXCLUDED.date, state = EXCLUDED.state, reason = EXCLUDED.reason, url = EXCLUDED.url,
        download = EXCLUDED.download, is_made = EXCLUDED.is_made, is_by_hand = EXCLUDED.is_by_hand,
        body = CASE WHEN EXCLUDED.body = '' THEN subscription_items.body ELSE EXCLUDED.body END
