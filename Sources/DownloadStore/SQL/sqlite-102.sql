-- The subscriptions, each as a JSON object.
CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;

-- The items that subscriptions have found. `date` orders them, in Unix milliseconds. `body` is a JSON object.
CREATE TABLE subscription_items (
    subscription TEXT NOT NULL REFERENCES subscriptions (id),
    key TEXT NOT NULL,
    date INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    url TEXT,
    download TEXT,
    is_made INTEGER NOT NULL,
    is_by_hand INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (subscription, key)
) WITHOUT ROWID;
CREATE INDEX subscription_items_date ON subscription_items (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON subscription_items (download) WHERE download IS NOT NULL;
