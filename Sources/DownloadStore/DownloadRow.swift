package import DownloadCore
internal import HTTPCore
internal import JSON
internal import System

/// The row of a record. `columns`, `encode` and `Reader.record` have the same order.
enum DownloadRow {
    /// The columns, in the order in which a row is written and read.
    static let columns = [
        "id", "url", "state", "filename", "media_type", "bytes_received", "bytes_total", "resumable", "file_missing",
        "segments", "attempts", "error_code", "error_message", "error_retryable", "error_status", "checksum", "sha256",
        "priority", "labels", "speed_limit", "track", "track_name", "created_at", "started_at", "updated_at", "ended_at",
        "revision", "requested_filename", "requested_media_type", "requested_segments", "headers", "mirrors", "webhook",
        "entity_known", "entity_etag", "entity_last_modified", "entity_date", "entity_total", "entity_coding",
        "synced_segments", "entity_source", "entity_digest", "file_identity", "event_epoch", "event_sequence", "retry_at",
        "retry_wait", "folder", "arrival", "gid", "part_generation", "transfer_crashes", "distrusts_mirrors",
        "fingerprints", "timeouts", "remote_time", "announced_mirrors", "retry",
    ]

    /// The columns for a statement.
    static let list = columns.joined(separator: ", ")

    static let saveStatement =
        "INSERT \(values) ON CONFLICT (id) DO UPDATE SET \(columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))"
    /// Inserts a row that must not replace another.
    static let insertStatement = "INSERT OR IGNORE \(values)"
    private static let values =
        "INTO downloads (\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"

    private static let selection = "SELECT \(list) FROM downloads"
    static let loadStatement = "\(selection) ORDER BY id"
    static let loadOlderStatement = "\(selection) WHERE id < ?1 ORDER BY id"
    static let loadYoungerStatement = "\(selection) WHERE id >= ?1 ORDER BY id"
    static let findRefusedStatement = "\(selection) WHERE \(RefusedRow.Table.downloads.condition)"

    /// Encodes a record in the order of `columns`.
    static func encode<Row: RowEncoder>(_ record: DownloadRecord, to row: inout Row) throws(Row.Failure) {
        let download = record.download
        let error = download.error
        let entity = record.entity
        try row.put(download.id.description)
        try row.put(download.url)
        try row.put(download.state.rawValue)
        try row.put(download.filename)
        try row.put(download.mediaType)
        try row.put(download.bytesReceived)
        try row.put(download.bytesTotal)
        try row.put(download.resumable.map { $0 ? 1 : 0 })
        try row.put(download.fileMissing ? 1 : 0)
        try row.put(Int64(download.segments))
        try row.put(min(Int64(download.attempts), Limits.count))
        try row.put(error?.code.rawValue)
        try row.put(error?.message)
        try row.put(error.map { $0.retryable ? 1 : 0 })
        try row.put(error?.httpStatus.map(Int64.init))
        try row.put(download.checksum?.description)
        try row.put(download.sha256Bytes)
        try row.put(Int64(download.priority))
        try row.put(encode(download.labels))
        try row.put(download.speedLimit)
        try row.put(download.track.map { String(decoding: $0, as: UTF8.self) })
        try row.put(download.trackName)
        try row.put(download.createdAt.millisecondsSinceEpoch)
        try row.put(download.startedAt?.millisecondsSinceEpoch)
        try row.put(download.updatedAt.millisecondsSinceEpoch)
        try row.put(download.endedAt?.millisecondsSinceEpoch)
        try row.put(min(Int64(clamping: download.revision), Limits.changes))
        try row.put(record.requestedFilename.map { record.lacksExtension ? $0 + "." : $0 })
        try row.put(record.requestedMediaType)
        try row.put(record.requestedSegments.map(Int64.init))
        try row.put(encode(record.headers))
        try row.put(encode(record.mirrors))
        try row.put(record.webhook)
        try row.put(entity == nil ? 0 : 1)
        try row.put(entity?.etag?.latin1)
        try row.put(entity?.lastModified?.latin1)
        try row.put(entity?.date)
        try row.put(entity?.total)
        try row.put(entity?.coding)
        try row.put(encode(record.segments))
        try row.put(entity?.source)
        try row.put(entity?.digest?.description)
        try row.put(download.file?.description)
        try row.put(Int64(bitPattern: download.changeID.epoch))
        try row.put(Int64(bitPattern: download.changeID.sequence))
        try row.put(record.retryHold?.until.millisecondsSinceEpoch)
        try row.put(record.retryHold.map { Int64(($0.length / .milliseconds(1)).rounded()) })
        try row.put(download.folder.isEmpty ? nil : download.folder)
        try row.put(download.arrival?.description)
        try row.put(download.chosenGID.map { Int64(bitPattern: $0.value) })
        try row.put(record.partGeneration.map { Int64(bitPattern: $0) })
        try row.put(record.transferCrashes == 0 ? nil : Int64(record.transferCrashes))
        try row.put(record.distrustsMirrors ? 1 : nil)
        try row.put(encodeFingerprints(of: record.segments))
        try row.put(download.timeouts.isEmpty ? nil : text(download.timeouts.json))
        try row.put(download.remoteTime.map { $0 ? 1 : 0 })
        try row.put(encode(record.announcedMirrors))
        try row.put(download.retry.isEmpty ? nil : text(download.retry.json))
    }
}

// MARK: - Reading

extension DownloadRow {
    /// Decodes rows of `columns`.
    package struct Reader {
        /// Folders of many rows, each kept once.
        private var shared: [String: String] = [:]
        private var values = SharedValues()
        private var urls = URLCheck()

        /// Whether a column with an impossible value gets a safe one. Otherwise the row is refused.
        private let mends: Bool

        package init(mending mends: Bool = false) {
            self.mends = mends
        }

        /// Decodes the record in the current row.
        ///
        /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
        package mutating func record(from row: some RowDecoder) throws(StoreError) -> DownloadRecord {
            let mends = mends
            var columns = Columns()
            func text() -> String? { columns.text(of: row) }
            func integer() -> Int64? { columns.integer(of: row) }
            func boolean() -> Bool? { integer().map { $0 != 0 } }
            let identifier = text() ?? (mends ? row.blob(0).map { String(decoding: $0, as: UTF8.self) } : nil)
            guard let id = identifier.flatMap(RecordID.init), id.isPlausible else {
                throw .damaged("\(row.key(0)) is not a download's id")
            }
            func required<Value>(_ value: Value?, _ column: StaticString, else safe: Value? = nil) throws(StoreError) -> Value {
                if let value { return value }
                if mends, let safe { return safe }
                throw .damaged("download \(id) has no valid \(column)")
            }
            func number(
                _ value: Int64?, in range: ClosedRange<Int64>, _ column: StaticString
            ) throws(StoreError) -> Int64? {
                guard let value, !range.contains(value) else { return value }
                return try mends ? nil : required(nil as Int64?, column)
            }
            func time(_ value: Int64?, _ column: StaticString) throws(StoreError) -> Timestamp? {
                guard let value else { return nil }
                let time = Timestamp(millisecondsSinceEpoch: value)
                return try time.millisecondsSinceEpoch == value || mends ? time : required(nil as Timestamp?, column)
            }
            let url = try required(text(), "url")
            var state = try required(text().flatMap(DownloadState.init), "state", else: .failed)
            var filename = text()
            if let name = filename, !FileNaming.isSafe(name) { filename = try mends ? nil : required(nil as String?, "filename") }
            // A completed download must have a filename.
            if state == .completed, filename == nil { state = try required(nil, "filename", else: .failed) }
            // An unfinished download cannot proceed without a valid URL.
            if state != .completed, !urls.accepts(url) { _ = try required(nil as String?, "url") }
            var download = Download(id: id, url: url, state: state, createdAt: id.createdAt)
            download.filename = filename
            download.mediaType = text()
            download.bytesReceived = try number(integer(), in: 0...Limits.bytes, "bytes_received") ?? 0
            download.bytesTotal = try number(integer(), in: 0...(.max), "bytes_total")
            download.resumable = boolean()
            download.fileMissing = boolean() ?? false
            download.segments = Int(clamping: try number(integer(), in: 0...Limits.count, "segments") ?? 0)
            download.attempts = Int(clamping: try number(integer(), in: 0...Limits.count, "attempts") ?? 0)
            let code = text()
            let message = text()
            let retryable = boolean()
            let status = integer()
            if let code {
                let failure = try required(FailureCode(rawValue: code), "error_code", else: .ioError)
                download.error = DownloadFailure(
                    failure, message ?? "", httpStatus: status.map(Int.init(clamping:)), retryable: retryable)
            }
            if let checksum = text() {
                let parsed = try? Checksum(parsing: checksum)
                download.checksum = try mends ? parsed : required(parsed, "checksum")
            }
            download.sha256Bytes = columns.blob(of: row)
            // Rare values are set only if they are present: setting one costs more than reading all of most rows.
            if let priority = try number(integer(), in: Limits.priorities, "priority"), priority != 0 {
                download.priority = Int(clamping: priority)
            }
            if let labels = text() { download.labels = try required(DownloadRow.strings(labels), "labels", else: []) }
            if let limit = try number(integer(), in: 0...(.max), "speed_limit"), limit != 0 {
                download.speedLimit = limit
            }
            if let track = text() {
                // The track is returned to clients unchanged. Parsing all tracks would take seconds at the start, so
                // only the braces are checked here; SQLite validates the JSON.
                let hasBraces = track.utf8.first == UInt8(ascii: "{") && track.utf8.last == UInt8(ascii: "}")
                if hasBraces, !mends || (try? JSONValue(parsing: track.utf8)) != nil {
                    download.track = Array(track.utf8)
                } else if !mends {
                    _ = try required(nil as String?, "track")
                }
            }
            if let name = text() { download.trackName = name }
            download.createdAt = try time(integer(), "created_at") ?? id.createdAt
            download.startedAt = try time(integer(), "started_at")
            download.updatedAt = try time(integer(), "updated_at") ?? id.createdAt
            download.endedAt = try time(integer(), "ended_at")
            if !state.isLive { download.endedAt = try required(download.endedAt, "ended_at", else: download.updatedAt) }
            download.revision = UInt64(clamping: try number(integer(), in: 0...Limits.changes, "revision") ?? 0)

            var record = DownloadRecord(download)
            if let name = text() {
                // Safe names do not end with a dot, so a final dot means that the extension is not yet known.
                let lacksExtension = name.utf8.last == UInt8(ascii: ".")
                let stem = lacksExtension ? String(name.dropLast()) : name
                if FileNaming.isSafe(stem) {
                    (record.requestedFilename, record.lacksExtension) = (stem, lacksExtension)
                } else if !mends {
                    _ = try required(nil as String?, "requested_filename")
                }
            }
            if let type = text() { record.requestedMediaType = type }
            if let segments = try number(integer(), in: 1...Limits.segments, "requested_segments") {
                record.requestedSegments = Int(clamping: segments)
            }
            if let headers = text() { record.headers = try required(DownloadRow.headers(headers), "headers", else: []) }
            if let mirrors = text() { record.mirrors = try required(DownloadRow.strings(mirrors), "mirrors", else: []) }
            if let webhook = text() { record.webhook = webhook }
            let entityIsKnown = boolean() ?? false
            var entity = SavedEntity(
                etag: text().map(FieldValue.init(latin1:)), lastModified: text().map(FieldValue.init(latin1:)),
                date: text(),
                total: try number(integer(), in: 0...(.max), "entity_total"), coding: text())
            if let segments = text() {
                record.segments = try required(DownloadRow.segments(segments), "synced_segments", else: [])
            }
            entity.source = text()
            if let digest = text() {
                let parsed = try? Checksum(parsing: digest)
                entity.digest = try mends ? parsed : required(parsed, "entity_digest")
            }
            if entityIsKnown, let total = entity.total, let last = record.segments.last, last.synced > total {
                record.segments = try required(nil, "synced_segments", else: [])
            }
            if entityIsKnown { record.entity = entity }
            if let file = text() {
                let identity = FileIdentity(file).flatMap { $0.size <= Limits.bytes ? $0 : nil }
                record.download.file = try mends ? identity : required(identity, "file_identity")
            }
            let epoch = try number(integer(), in: 0...Int64(StoredEventHistory.largestEpoch), "event_epoch")
            let sequence = try number(integer(), in: 0...Limits.changes, "event_sequence")
            record.download.changeID = EventID(
                epoch: UInt64(bitPattern: try required(epoch, "event_epoch", else: 0)),
                sequence: UInt64(bitPattern: try required(sequence, "event_sequence", else: 0)))
            let (retryAt, retryWait) = (try time(integer(), "retry_at"), integer())
            if let retryAt {
                let maximum = RetryPolicy().longestRetryAfter
                let length = retryWait.map { min(max(.milliseconds($0), .zero), maximum) }
                record.retryHold = RetryHold(until: retryAt, length: try required(length, "retry_wait", else: maximum))
            }
            if let folder = text() {
                record.download.folder = try required(FileNaming.isSafeFolder(folder) ? share(folder) : nil, "folder", else: "")
            }
            if let arrival = text() {
                let parsed = RecordID(arrival).flatMap { $0.isPlausible ? $0 : nil }
                record.download.arrival = try mends ? parsed : required(parsed, "arrival")
            }
            if let gid = integer() { record.download.chosenGID = DownloadGID(UInt64(bitPattern: gid)) }
            if let generation = integer() { record.partGeneration = UInt64(bitPattern: generation) }
            if let crashes = try number(integer(), in: 0...Limits.count, "transfer_crashes") {
                record.transferCrashes = Int(clamping: crashes)
            }
            if boolean() ?? false { record.distrustsMirrors = true }
            if let fingerprints = text() {
                let values = try required(DownloadRow.fingerprints(fingerprints), "fingerprints", else: [])
                // Without one for each segment, they belong to other segments.
                if values.count == record.segments.count {
                    for (index, value) in values.enumerated() { record.segments[index].fingerprint = value }
                }
            }
            if let timeouts = text() {
                let parsed = (try? JSONValue(parsing: Array(timeouts.utf8))).flatMap { Timeouts(json: $0) }
                record.download.timeouts = try required(parsed, "timeouts", else: Timeouts())
            }
            if let remoteTime = boolean() { record.download.remoteTime = remoteTime }
            if let mirrors = text() {
                record.announcedMirrors = try required(DownloadRow.strings(mirrors), "announced_mirrors", else: [])
            }
            if let retry = text() {
                let parsed = (try? JSONValue(parsing: Array(retry.utf8))).flatMap { try? RetryChoice(json: $0) }
                record.download.retry = try required(parsed, "retry", else: RetryChoice())
            }
            if let foreign = columns.foreign, !mends {
                throw .damaged("download \(id) has no valid \(DownloadRow.columns[Int(foreign)])")
            }
            // Blocks of equal values would otherwise be allocated for each record, and freed among the strings that stay.
            values.share(&record.download)
            return record
        }

        private mutating func share(_ text: String) -> String {
            if let known = shared[text] { return known }
            // Clients may choose any number of different folders.
            if shared.count < 1_000 { shared[text] = text }
            return text
        }
    }

    /// The ranges of values that a release can have written.
    private enum Limits {
        /// More bytes than any file has.
        static let bytes = QuotaLedger.largestReservation
        package static let count: Int64 = 1 << 31
        /// The maximum of revisions and of the second half of event ids.
        static let changes: Int64 = 1 << 62
        static let priorities: ClosedRange<Int64> = -10...10
        static let segments: Int64 = 16
    }

    /// Reads consecutive columns. The row is passed to each call, because a stored copy would be retained and released
    /// each time.
    private struct Columns {
        private var next: Int32 = 0
        /// The first column whose value has the wrong type; `nil` if there is none.
        package private(set) var foreign: Int32?

        private mutating func value<Row: RowDecoder, Value>(of row: Row, _ read: (Row.Value) -> Value?) -> Value? {
            let column = next
            next += 1
            // Most columns of most rows are null.
            guard let stored = row.value(column) else { return nil }
            let value = read(stored)
            if value == nil, foreign == nil { foreign = column }
            return value
        }

        mutating func text(of row: some RowDecoder) -> String? { value(of: row) { $0.text } }

        mutating func blob(of row: some RowDecoder) -> [UInt8]? { value(of: row) { $0.blob } }

        mutating func integer(of row: some RowDecoder) -> Int64? { value(of: row) { $0.integer } }
    }
}

extension StoreReader {
    /// Returns the records with these ids. Ids without a record are left out.
    package func records(_ ids: [RecordID]) throws(StoreError) -> [DownloadRecord] {
        var records: [DownloadRecord] = []
        var reader = DownloadRow.Reader()
        let sql = "SELECT \(DownloadRow.list) FROM \(dialect.schema)downloads WHERE id = $1"
        try rows("find", sql, ids.map { [$0.description] }) { records.append(try reader.record(from: $0)) }
        return records
    }
}

// MARK: - Lists as JSON

extension DownloadRow {
    /// Encodes `["a","b"]`; `nil` for an empty list.
    private static func encode(_ strings: [String]) -> String? {
        guard !strings.isEmpty else { return nil }
        return text(.array(strings.map(JSONValue.string)))
    }

    /// Encodes `[["name","value"],…]`; `nil` for an empty list.
    private static func encode(_ headers: [RequestHeader]) -> String? {
        guard !headers.isEmpty else { return nil }
        return text(.array(headers.map { .array([.string($0.name), .string($0.value)]) }))
    }

    /// Encodes `[[start,end,synced],…]`, with null for an unknown end; `nil` for an empty list.
    package static func encode(_ segments: [SyncedSegment]) -> String? {
        guard !segments.isEmpty else { return nil }
        return text(
            .array(
                segments.map { segment in
                    .array([
                        .integer(segment.start), segment.end.map(JSONValue.integer) ?? .null, .integer(segment.synced),
                    ])
                }))
    }

    /// Encodes `[fingerprint,…]`, one for each segment; `nil` if one is unknown.
    static func encodeFingerprints(of segments: [SyncedSegment]) -> String? {
        guard !segments.isEmpty, let fingerprints = all(segments.map(\.fingerprint)) else { return nil }
        return text(.array(fingerprints.map { .integer(Int64(bitPattern: $0.value)) }))
    }

    private static func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self)
    }

    private static func list(_ text: String) -> [JSONValue]? {
        (try? JSONValue(parsing: Array(text.utf8)))?.array
    }

    private static func strings(_ text: String) -> [String]? {
        list(text).flatMap { all($0.map(\.string)) }
    }

    private static func headers(_ text: String) -> [RequestHeader]? {
        list(text).flatMap { items in
            all(
                items.map { item in
                    guard let pair = item.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string,
                        !(name + value).utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 })
                    else { return nil }
                    return RequestHeader(name: name, value: value)
                })
        }
    }

    private static func segments(_ text: String) -> [SyncedSegment]? {
        list(text).flatMap { items in
            // Segments are in order and do not overlap.
            var reached: Int64 = 0
            return all(
                items.map { item in
                    guard let triple = item.array, triple.count == 3, let start = triple[0].integer,
                        let synced = triple[2].integer, triple[1].isNull || triple[1].integer != nil
                    else { return nil }
                    let end = triple[1].integer
                    guard reached <= start, start <= synced, synced <= end ?? synced, synced <= Limits.bytes else { return nil }
                    reached = synced
                    return SyncedSegment(start: start, end: end, synced: synced)
                })
        }
    }

    private static func fingerprints(_ text: String) -> [Fingerprint]? {
        list(text).flatMap { all($0.map { $0.integer.map { Fingerprint(UInt64(bitPattern: $0)) } }) }
    }

    /// Returns the values if none is `nil`; otherwise `nil`.
    private static func all<Value>(_ values: [Value?]) -> [Value]? {
        let present = values.compactMap(\.self)
        return present.count == values.count ? present : nil
    }
}
