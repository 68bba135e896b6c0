CREATE INDEX subscription_items_state ON pawl.subscription_items (subscription, state);

-- Counts the items of a subscription by state: states and numbers, separated by spaces; null without items.
CREATE FUNCTION pawl.item_counts(id text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(state || ' ' || number, ' ') FROM (
        SELECT state, count(*) AS number FROM pawl.subscription_items WHERE subscription = $1 GROUP BY state) AS counts
$$;
