-- The keys of objects that no record names.
SELECT key FROM unnest($1::text[]) AS listed (key) WHERE NOT EXISTS (
    SELECT FROM pawl.downloads WHERE id = split_part(key, '/', 1)
        AND starts_with(file_identity, '0:' || split_part(key, '/', 2) || ':'))
