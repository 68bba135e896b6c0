-- Saves a record, unless another instance owns the download.
--
-- A download holds its URL if later requests for the URL may receive it. One that becomes current again, or gets
-- another URL, holds it unless another download does.
INSERT INTO pawl.downloads AS kept ({columns}, owner) VALUES ({values}, {instance}::bigint)
    ON CONFLICT (id) DO UPDATE SET {assignments},
        url_digest = sha256(convert_to(EXCLUDED.url, 'UTF8')),
        holds_url = EXCLUDED.state NOT IN ('failed', 'cancelled') AND EXCLUDED.file_missing = 0 AND CASE
            WHEN EXCLUDED.url = kept.url AND kept.state NOT IN ('failed', 'cancelled') AND kept.file_missing = 0
            THEN kept.holds_url
            ELSE NOT EXISTS (
                SELECT FROM pawl.downloads AS other WHERE other.url_digest = sha256(convert_to(EXCLUDED.url, 'UTF8'))
                    AND other.holds_url AND other.id <> kept.id)
            END,
        owner = CASE WHEN coalesce(kept.owner, EXCLUDED.owner) = EXCLUDED.owner THEN EXCLUDED.owner
            ELSE pawl.refuse(kept.id) END
