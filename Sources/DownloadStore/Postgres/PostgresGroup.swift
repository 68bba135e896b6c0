internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Postgres

/// The SQL statements for a group of changes.
struct PostgresGroup {
    /// The changes to publish, in order. A change without a download is a removal.
    private(set) var published: [(id: RecordID, download: Download?)] = []
    private let instance: Int64
    /// New records. One statement for all of them costs the database a third of one statement for each.
    private var added = JSONWriter()
    /// The statements of all other changes, in order.
    private var changing: [PostgresCommand] = []
    /// The requests for slots, with their indices in `changing`.
    private var requesting: [(request: SlotRequest, index: Int)] = []
    /// The revisions of the saved records.
    private var saved: [RecordID: UInt64] = [:]
    /// The indices in `changing` of the statements that raise the revision of a download, since its record was saved.
    private var raising: [RecordID: Int] = [:]
    var savesRecords: Bool { !saved.isEmpty }

    /// All statements. New records come first, because other changes may be about them. Publishing comes last, because
    /// it blocks other transactions until this one ends.
    var commands: [PostgresCommand] { adding + changing + publishing }

    /// The requests for slots, with the indices of their results among the results of `commands`.
    var slotRequests: [(request: SlotRequest, index: Int)] {
        let first = added.bytes.isEmpty ? 0 : 1
        return requesting.map { ($0.request, first + $0.index) }
    }

    private var adding: [PostgresCommand] {
        if added.bytes.isEmpty { return [] }
        var writer = added
        writer.endArray()
        return [PostgresCommand(Statements.add, [.text(String(decoding: writer.bytes, as: UTF8.self))])]
    }

    /// The statement that publishes the changes. It returns the sequence number before the first of them.
    private var publishing: [PostgresCommand] {
        if published.isEmpty { return [] }
        // Neither ids nor encoded downloads contain line breaks.
        let values: [PostgresValue] = [
            .integer(instance), .text(published.lazy.map(\.id.description).joined(separator: "\n")),
            .text(published.lazy.map { $0.download.map(FleetChange.encode) ?? "" }.joined(separator: "\n")),
        ]
        return [PostgresCommand(Statements.publish, values)]
    }

    /// Creates an empty group.
    /// - Parameter instance: The instance that makes the changes.
    init(instance: Int64) {
        self.instance = instance
    }

    /// Adds the statements of a change.
    mutating func add(_ change: StoreChange) {
        switch change {
        case .add(let record):
            if added.bytes.isEmpty { added.beginArray() }
            var row = PostgresObjectEncoder(Statements.columns)
            Self.encode(record, to: &row)
            added.raw(row.object(with: ("needs_slot", record.download.state == .queued)))
            published.append((record.id, record.download))
        case .save(let record):
            put(Statements.save) { [instance] row in
                Self.encode(record, to: &row)
                row.put(instance)
            }
            saved[record.id] = record.download.revision
            raising[record.id] = nil
        case .progress(let progress):
            put(Statements.progress) { row in
                row.put(progress.id.description)
                row.put(progress.bytesReceived)
                row.put(DownloadRow.encode(progress.segments))
                row.put(DownloadRow.encodeFingerprints(of: progress.segments))
            }
        case .remove(let id, _):
            put(Statements.remove, .id(id), .integer(instance))
            published.append((id, nil))
        case .fleet(.publishVersion(let download)):
            // The next owner must not publish another version with the same revision.
            if saved[download.id] ?? 0 < download.revision {
                let values: [PostgresValue] = [.id(download.id), .integer(Int64(bitPattern: download.revision))]
                let command = PostgresCommand(Statements.publishVersion, values)
                // The statement only raises the revision, so one suffices for several versions.
                if let index = raising[download.id] {
                    changing[index] = command
                } else {
                    raising[download.id] = changing.count
                    changing.append(command)
                }
            }
            published.append((download.id, download))
        case .fleet(.enqueue(let id)): put(Statements.enqueue, .id(id), .integer(instance))
        case .fleet(.leaveQueue(let id)): put(Statements.leaveQueue, .id(id), .integer(instance))
        case .fleet(.holdURL(let id)): put(Statements.holdURL, .id(id))
        case .fleet(.requestSlots(let request)):
            requesting.append((request, changing.count))
            put(Statements.requestSlots, .integer(instance), .integer(Int64(request.free)), .integer(Int64(request.hostLimit)))
        case .fleet(.send(let text, let recipient)):
            put(Statements.send, .integer(recipient), .integer(instance), .storable(text))
            put(Statements.ring, .text("pawl_instance_\(recipient)"))
        case .fleet(.release(let id)): put(Statements.release, .id(id), .integer(instance))
        case .set(let name, let value?):
            put(Statements.set, .storable(name), .storable(value))
            put(Statements.notifySettings)
        case .set(let name, nil):
            put(Statements.unset, .storable(name))
            put(Statements.notifySettings)
        // The fence already is a write.
        case .probe: break
        case .remember(let record): put(Statements.remember) { IdempotencyRow.encode(record, to: &$0) }
        case .forget(let key): put(Statements.forget, .storable(key))
        case .keepDelivery(let delivery):
            put(Statements.keepDelivery) { [instance] row in
                DeliveryRow.encode(delivery, to: &row)
                row.put(instance)
            }
        case .dropDelivery(let id): put(Statements.dropDelivery, .id(id))
        case .subscription(.save(let subscription)):
            put(Statements.saveSubscription) { row in
                SubscriptionRow.encode(subscription, to: &row)
                row.put(subscription.version)
                row.put(subscription.work)
            }
            put(Statements.notifySubscriptions)
        case .subscription(.remove(let id)):
            put(Statements.removeSubscription, .id(id))
            put(Statements.notifySubscriptions)
        case .subscription(.requireClaim(let claim)): put(Statements.requireClaim, .id(claim.id), .integer(claim.number ?? 0))
        case .subscription(.endClaim(let claim)):
            put(Statements.endClaim, .id(claim.id), .integer(claim.number ?? 0))
            put(Statements.notifySubscriptions)
        case .subscription(.saveItem(let item)): put(Statements.saveItem) { ItemRow.encode(item, to: &$0) }
        case .subscription(.dropItem(let id, let key)): put(Statements.dropItem, .id(id), .storable(key))
        // The epoch is the fleet's, so an instance keeps none.
        case .beginEpoch: break
        }
    }

    private static func encode<Row: RowEncoder>(_ record: DownloadRecord, to row: inout Row) where Row.Failure == Never {
        DownloadRow.encode(record, to: &row)
        row.put(HTTPURL(record.download.url).map { "\($0.host):\($0.port)" } ?? "")
    }

    /// Encodes a `text[]` in PostgreSQL's notation.
    static func array(_ texts: [String?]) -> String {
        var written: [UInt8] = [UInt8(ascii: "{")]
        for (index, text) in texts.enumerated() {
            if index > 0 { written.append(UInt8(ascii: ",")) }
            guard let text else {
                written += "NULL".utf8
                continue
            }
            written.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { written.append(UInt8(ascii: "\\")) }
                written.append(byte)
            }
            written.append(UInt8(ascii: "\""))
        }
        written.append(UInt8(ascii: "}"))
        return String(decoding: written, as: UTF8.self)
    }

    private mutating func put(_ statement: PostgresStatement, _ values: PostgresValue...) {
        changing.append(PostgresCommand(statement, values))
    }

    private mutating func put(_ statement: PostgresStatement, _ encode: (inout PostgresRowEncoder) -> Void) {
        var row = PostgresRowEncoder()
        encode(&row)
        changing.append(PostgresCommand(statement, row.values))
    }

    enum Statements {
        static let columns = DownloadRow.columns + ["host"]
        private static let list = columns.joined(separator: ", ")
        static let add = PostgresStatement(
            "add",
            """
            INSERT INTO pawl.downloads (\(list), needs_slot)
                SELECT \(list), needs_slot FROM json_populate_recordset(NULL::pawl.downloads, $1::json)
            """)
        static let save = PostgresStatement(
            "save", file: PackageResources.postgres_save_sql, columns: columns,
            [
                "values": (1...columns.count).map { "$\($0)" }.joined(separator: ", "),
                "instance": "$\(columns.count + 1)",
                "assignments": columns.dropFirst().map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", "),
            ])
        private static let mine = "CASE WHEN owner = $2::bigint THEN owner ELSE pawl.refuse(id) END"
        static let enqueue = PostgresStatement(
            "enqueue", "UPDATE pawl.downloads SET needs_slot = true, owner = \(mine) WHERE id = $1")
        static let leaveQueue = PostgresStatement(
            "leave_queue", "UPDATE pawl.downloads SET needs_slot = false, slot_holder = NULL, owner = \(mine) WHERE id = $1")
        static let release = PostgresStatement(
            "release",
            "UPDATE pawl.downloads SET owner = NULL, slot_holder = NULL WHERE id = $1 AND owner = $2::bigint")
        static let publishVersion = PostgresStatement(
            "publishVersion", "UPDATE pawl.downloads SET revision = $2::bigint WHERE id = $1 AND revision < $2::bigint")
        static let holdURL = PostgresStatement(
            "hold_url", "UPDATE pawl.downloads SET url_digest = sha256(convert_to(url, 'UTF8')), holds_url = true WHERE id = $1")
        static let requestSlots = PostgresStatement(
            "claim",
            "SELECT \(DownloadRow.list) FROM pawl.claim($1::bigint, $2::integer, $3::integer)")
        static let send = PostgresStatement(
            "send", "INSERT INTO pawl.messages (recipient, sender, body) VALUES ($1::bigint, $2::bigint, $3)")
        static let ring = PostgresStatement("ring", "SELECT pg_notify($1, 'message')")
        static let publish = PostgresStatement(
            "publish",
            "SELECT pawl.publish($1::bigint, string_to_array($2, chr(10)), string_to_array($3, chr(10), ''))")
        static let progress = PostgresStatement(
            "progress",
            "UPDATE pawl.downloads SET bytes_received = $2::bigint, synced_segments = $3, fingerprints = $4 WHERE id = $1")
        static let remove = PostgresStatement("remove", file: PackageResources.postgres_remove_sql)
        static let set = PostgresStatement(
            "set",
            "INSERT INTO pawl.settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value")
        static let notifySettings = PostgresStatement("notify_settings", "SELECT pg_notify('pawl_settings', '')")
        static let unset = PostgresStatement("unset", "DELETE FROM pawl.settings WHERE name = $1")
        static let remember = PostgresStatement(
            "remember",
            """
            INSERT INTO pawl.idempotency_keys (key, request_digest, outcomes, created_at) VALUES ($1, $2, $3, $4::bigint)
            """)
        static let forget = PostgresStatement("forget", "DELETE FROM pawl.idempotency_keys WHERE key = $1")
        static let keepDelivery = PostgresStatement(
            "keep_delivery",
            """
            INSERT INTO pawl.webhook_deliveries (id, subject, url, body, attempts, due_at, owner)
                VALUES ($1, $2, $3, $4, $5::bigint, $6::bigint, $7::bigint)
                ON CONFLICT (id) DO UPDATE SET attempts = EXCLUDED.attempts, due_at = EXCLUDED.due_at
            """)
        static let saveSubscription = PostgresStatement(
            "save_subscription", file: PackageResources.postgres_save_subscription_sql)
        static let requireClaim = PostgresStatement("require_claim", "SELECT pawl.require_claim($1, $2::bigint)")
        static let endClaim = PostgresStatement(
            "end_claim", "UPDATE pawl.subscriptions SET holder = NULL WHERE id = $1 AND claim = $2::bigint")
        // Equal notifications of a transaction are sent once.
        static let notifySubscriptions = PostgresStatement(
            "notify_subscriptions", "SELECT pg_notify('pawl_subscriptions', '')")
        static let removeSubscription = PostgresStatement(
            "remove_subscription", "DELETE FROM pawl.subscriptions WHERE id = $1")
        static let saveItem = PostgresStatement("save_item", file: PackageResources.postgres_save_item_sql)
        static let dropItem = PostgresStatement(
            "drop_item", "DELETE FROM pawl.subscription_items WHERE subscription = $1 AND key = $2")
        static let dropDelivery = PostgresStatement("drop_delivery", "DELETE FROM pawl.webhook_deliveries WHERE id = $1")
    }
}
