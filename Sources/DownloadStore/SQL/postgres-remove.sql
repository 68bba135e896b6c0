-- Deletes a record, unless another instance owns the download.
DELETE FROM pawl.downloads WHERE id = $1 AND
    CASE WHEN coalesce(owner, $2::bigint) = $2::bigint THEN true ELSE pawl.refuse(id) IS NULL END
