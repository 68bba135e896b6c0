-- The subscriptions that differ from the known ones with the ids $1 and the versions $2. Those that were removed have no
-- body.
SELECT coalesce(present.id, known.id), present.body, present.version, pawl.item_counts(present.id) FROM pawl.subscriptions AS present
    FULL JOIN unnest($1::text[], $2::bigint[]) AS known (id, version) ON present.id = known.id COLLATE "C"
    WHERE present.version IS DISTINCT FROM known.version
