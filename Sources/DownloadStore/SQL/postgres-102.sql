-- The subscriptions, each as a JSON object. `version` counts its changes. `work` is a digest of the work that it was added
-- for; null if it has moved to another one.
--
-- Only the holder of a claim changes a subscription. `claim` counts the claims, so that no change under an earlier one is
-- accepted. A claim ends with the lease of its holder.
CREATE TABLE pawl.subscriptions (
    id text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    version bigint NOT NULL,
    work text UNIQUE,
    holder bigint,
    claim bigint NOT NULL DEFAULT 0,
    host text
);

-- The items that subscriptions have found. `date` orders them, in Unix milliseconds. `body` is a JSON object.
CREATE TABLE pawl.subscription_items (
    subscription text COLLATE "C" NOT NULL REFERENCES pawl.subscriptions (id) ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    date bigint NOT NULL,
    state text NOT NULL,
    reason text,
    url text,
    download text,
    is_made bigint NOT NULL,
    is_by_hand bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (subscription, key)
);
CREATE INDEX subscription_items_date ON pawl.subscription_items (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON pawl.subscription_items (download) WHERE download IS NOT NULL;

-- Claims a subscription whose work comes from `place`. Unless `forced`, it returns no row while another instance has a
-- claim on the subscription, or any instance has one on another subscription of the place.
CREATE FUNCTION pawl.claim_subscription(me bigint, subscription text, place text, forced boolean)
    RETURNS TABLE (number bigint, id text, body text, version bigint) LANGUAGE plpgsql AS $$
BEGIN
    IF NOT forced THEN
        -- "Pawl" in ASCII, and 4. One at a time, so that each one sees the claims of the others.
        PERFORM pg_advisory_xact_lock(x'5061776C04'::bigint);
        IF EXISTS (
            SELECT FROM pawl.subscriptions AS other JOIN pawl.instances ON instances.id = other.holder
                WHERE other.id <> subscription AND other.host = place)
        THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY UPDATE pawl.subscriptions AS s
        SET holder = me, host = place, claim = s.claim + CASE WHEN s.holder = me THEN 0 ELSE 1 END
        WHERE s.id = subscription AND (
            forced OR s.holder IS NULL OR s.holder = me
            OR NOT EXISTS (SELECT FROM pawl.instances WHERE instances.id = s.holder))
        RETURNING s.claim, s.id::text, s.body, s.version;
END $$;

-- Refuses the transaction unless this is the last claim on the subscription. The next claim waits for the transaction.
CREATE FUNCTION pawl.require_claim(subscription text, number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM pawl.subscriptions WHERE id = subscription AND claim = number FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another instance changes subscription %', subscription USING ERRCODE = 'PW003';
    END IF;
END $$;
