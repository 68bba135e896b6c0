-- Tables whose rows may have more than 1,002 bytes get rowids: without, each such row takes a page of its own. The columns
-- are those of the earlier versions.
CREATE TABLE new_downloads (
    id TEXT NOT NULL PRIMARY KEY, url TEXT NOT NULL, state TEXT NOT NULL, filename TEXT, media_type TEXT,
    bytes_received INTEGER NOT NULL, bytes_total INTEGER, resumable INTEGER, file_missing INTEGER NOT NULL,
    segments INTEGER NOT NULL, attempts INTEGER NOT NULL, error_code TEXT, error_message TEXT, error_retryable INTEGER,
    error_status INTEGER, checksum TEXT, sha256 BLOB, priority INTEGER NOT NULL, labels TEXT, speed_limit INTEGER NOT NULL,
    track TEXT, track_name TEXT, created_at INTEGER NOT NULL, started_at INTEGER, updated_at INTEGER NOT NULL,
    ended_at INTEGER, revision INTEGER NOT NULL, requested_filename TEXT, requested_media_type TEXT,
    requested_segments INTEGER, headers TEXT, mirrors TEXT, webhook TEXT, entity_known INTEGER NOT NULL, entity_etag TEXT,
    entity_last_modified TEXT, entity_date TEXT, entity_total INTEGER, entity_coding TEXT, synced_segments TEXT,
    entity_source TEXT, entity_digest TEXT, file_identity TEXT, event_epoch INTEGER NOT NULL,
    event_sequence INTEGER NOT NULL, retry_at INTEGER, retry_wait INTEGER, folder TEXT, arrival TEXT, gid INTEGER,
    part_generation INTEGER, transfer_crashes INTEGER, distrusts_mirrors INTEGER, fingerprints TEXT, timeouts TEXT,
    remote_time INTEGER, announced_mirrors TEXT, retry TEXT
);
INSERT INTO new_downloads SELECT * FROM downloads ORDER BY id;
DROP TABLE downloads;
ALTER TABLE new_downloads RENAME TO downloads;

CREATE TABLE new_keys (
    key TEXT NOT NULL PRIMARY KEY, request_digest BLOB NOT NULL, outcomes TEXT NOT NULL, created_at INTEGER NOT NULL
);
INSERT INTO new_keys SELECT * FROM idempotency_keys;
DROP TABLE idempotency_keys;
ALTER TABLE new_keys RENAME TO idempotency_keys;

CREATE TABLE new_deliveries (
    id TEXT NOT NULL PRIMARY KEY, subject TEXT, url TEXT NOT NULL, body BLOB NOT NULL, attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL
);
INSERT INTO new_deliveries SELECT * FROM webhook_deliveries ORDER BY id;
DROP TABLE webhook_deliveries;
ALTER TABLE new_deliveries RENAME TO webhook_deliveries;

CREATE TABLE new_subscriptions (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL);
INSERT INTO new_subscriptions SELECT * FROM subscriptions;
DROP TABLE subscriptions;
ALTER TABLE new_subscriptions RENAME TO subscriptions;

-- In `body`, a download address that is `url` is the text "=".
CREATE TABLE new_items (
    subscription TEXT NOT NULL, key TEXT NOT NULL, date INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT, url TEXT,
    download TEXT, is_made INTEGER NOT NULL, is_by_hand INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (subscription, key)
);
INSERT INTO new_items SELECT
    subscription, key, date, state, reason, url, download, is_made, is_by_hand,
    coalesce(replace(body, '"downloadUrl":"' || url || '"', '"downloadUrl":"="'), body)
    FROM subscription_items;
DROP TABLE subscription_items;
ALTER TABLE new_items RENAME TO subscription_items;
CREATE INDEX subscription_items_date ON subscription_items (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON subscription_items (download) WHERE download IS NOT NULL;
CREATE INDEX subscription_items_state ON subscription_items (subscription, state);
