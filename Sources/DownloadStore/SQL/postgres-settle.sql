-- Waits for the group after $2 if the server still processes it, and otherwise takes its number, so that it can no
-- longer be committed. Repeating the statement changes nothing.
UPDATE pawl.instances SET last_group = CASE last_group WHEN $2::bigint THEN $2::bigint + 2 ELSE last_group END
    WHERE id = $1::bigint RETURNING last_group
