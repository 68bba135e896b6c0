-- Sets the settings $3 to the values $4 if all present settings are $1 with the values $2.
INSERT INTO pawl.settings (name, value) SELECT unnest($3::text[]), unnest($4::text[])
    WHERE (SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM pawl.settings) = jsonb_object($1::text[], $2::text[])
    ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value RETURNING name
