-- The record file of a single service. Lists and objects are JSON text. Times are Unix milliseconds, and booleans 0 or 1.
-- A table whose rows may have more than 1,002 bytes has rowids: without, each such row takes a page of its own.

-- The downloads. Ids grow with time, so new records are appended.
CREATE TABLE downloads (
    id TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    state TEXT NOT NULL,
    filename TEXT,
    media_type TEXT,
    bytes_received INTEGER NOT NULL,
    bytes_total INTEGER,
    resumable INTEGER,
    file_missing INTEGER NOT NULL,
    segments INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error_code TEXT,
    error_message TEXT,
    error_retryable INTEGER,
    error_status INTEGER,
    checksum TEXT,
    sha256 BLOB,
    priority INTEGER NOT NULL,
    labels TEXT,
    speed_limit INTEGER NOT NULL,
    track TEXT,
    track_name TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    updated_at INTEGER NOT NULL,
    -- Null while the download is live.
    ended_at INTEGER,
    revision INTEGER NOT NULL,
    requested_filename TEXT,
    requested_media_type TEXT,
    requested_segments INTEGER,
    headers TEXT,
    mirrors TEXT,
    webhook TEXT,
    -- The version of the file that the bytes belong to.
    entity_known INTEGER NOT NULL,
    entity_etag TEXT,
    entity_last_modified TEXT,
    entity_date TEXT,
    entity_total INTEGER,
    entity_coding TEXT,
    synced_segments TEXT,
    -- The mirror that sent the validators; null if the download's own URL did.
    entity_source TEXT,
    -- The digest of the whole file, as its origin reported it.
    entity_digest TEXT,
    -- The identity of the finished file.
    file_identity TEXT,
    -- The event id of the last change.
    event_epoch INTEGER NOT NULL,
    event_sequence INTEGER NOT NULL,
    -- The end and the length of the wait before which the origin must not be contacted again.
    retry_at INTEGER,
    retry_wait INTEGER,
    -- The folder of the finished file; null for `files` itself.
    folder TEXT,
    -- The arrival in the queue; null for the download's own id.
    arrival TEXT,
    -- The gid that a client of aria2's RPC has chosen.
    gid INTEGER,
    -- The generation in the part file's name; null if there is no part file.
    part_generation INTEGER,
    -- The number of consecutive crashes during which the download was in transfer; null for none.
    transfer_crashes INTEGER,
    -- 1 after a file with bytes of a mirror has failed its checksum.
    distrusts_mirrors INTEGER,
    -- The fingerprint of each range of synced_segments, as a JSON array; null if they are unknown.
    fingerprints TEXT,
    -- The time limits that the client has chosen, as a JSON object; null for none.
    timeouts TEXT,
    -- 1 or 0 if the client has chosen the finished file's modification time; null for the service's option.
    remote_time INTEGER,
    -- The mirrors that the origin has announced, as a JSON array; null for none.
    announced_mirrors TEXT,
    -- The choice of when failed attempts are repeated, as a JSON object; null for the service's options.
    retry TEXT
);

CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The outcomes of requests with idempotency keys.
CREATE TABLE idempotency_keys (
    key TEXT NOT NULL PRIMARY KEY,
    request_digest BLOB NOT NULL,
    outcomes TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

-- Each delivery holds the body of its message. `subject` is the download or subscription that it is about; null for the
-- service.
CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    subject TEXT,
    url TEXT NOT NULL,
    body BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL
);

-- The latest beginnings of epochs, where `removed_id` is null, and the latest removals. All removals after the event id
-- of the oldest row are here.
CREATE TABLE event_history (
    number INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    removed_id TEXT
);

-- The subscriptions, each as a JSON object.
CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
);

-- The items that subscriptions have found. `date` orders them, in Unix milliseconds. `body` is a JSON object, in which a
-- download address that is `url` is the text "=".
CREATE TABLE subscription_items (
    subscription TEXT NOT NULL,
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
);
CREATE INDEX subscription_items_date ON subscription_items (subscription, date DESC, key DESC);
CREATE INDEX subscription_items_download ON subscription_items (download) WHERE download IS NOT NULL;
CREATE INDEX subscription_items_state ON subscription_items (subscription, state);
