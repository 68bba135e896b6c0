-- The subscriptions, each as a JSON object. Only the holder of a claim checks one; a claim ends by itself.
CREATE TABLE pawl.subscriptions (
    id text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    checker bigint,
    claimed_until timestamptz
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
