-- Acquires the downloads that no other instance owns.
UPDATE pawl.downloads SET owner = $1::bigint
    WHERE id = ANY ($2::text[]) AND (owner IS NULL OR owner = $1::bigint) RETURNING {columns}
