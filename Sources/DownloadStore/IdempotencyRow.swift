package import DownloadCore
import HTTPCore
import JSON

/// The row of the outcome of a request with an idempotency key.
///
/// Outcomes are a JSON array of arrays: `["created",<snapshot>]`, `["existing",<snapshot>]`, `["refused",<refusal>]`,
/// `["subscribed",<subscription>]` for a new one, or `["known",<subscription>]`. Texts among them are warnings.
enum IdempotencyRow {
    static let saveStatement =
        "REPLACE INTO idempotency_keys (key, request_digest, outcomes, created_at) VALUES (?1, ?2, ?3, ?4)"
    static let columns = "key, request_digest, outcomes, created_at"

    /// Encodes a record for `saveStatement`.
    static func encode<Row: RowEncoder>(_ record: IdempotencyRecord, to row: inout Row) throws(Row.Failure) {
        let subscription = record.subscription.map { [encode($0.stored, isNew: $0.isNew)] } ?? []
        let outcomes = JSONValue.array(
            record.outcomes.map(encode) + subscription + record.warnings.map(JSONValue.string)
        ).serialized()
        try row.put(record.key)
        try row.put(record.digest)
        try row.put(String(decoding: outcomes, as: UTF8.self))
        try row.put(record.createdAt.millisecondsSinceEpoch)
    }

    /// Decodes the record in a row of `columns`.
    /// - Throws: `StoreError.damaged` if a column has a value that no release writes.
    static func record(from row: some RowDecoder) throws(StoreError) -> IdempotencyRecord {
        guard let key = row.text(0), let digest = row.blob(1), let text = row.text(2), let time = row.integer(3),
            let items = (try? JSONValue(parsing: text.utf8))?.array
        else { throw .damaged("an idempotency key cannot be read") }
        var record = IdempotencyRecord(
            key: key, digest: digest, outcomes: [], createdAt: Timestamp(millisecondsSinceEpoch: time))
        record.subscription = items.first.flatMap(subscription)
        if record.subscription == nil {
            record.warnings = items.compactMap(\.string)
            for item in items where item.string == nil { record.outcomes.append(try decode(item)) }
        }
        return record
    }

    private static func encode(_ stored: StoredSubscription, isNew: Bool) -> JSONValue {
        .array([
            .string(isNew ? "subscribed" : "known"),
            .object([
                JSONMember(name: "id", value: .string(stored.id.description)),
                JSONMember(name: "body", value: .string(String(decoding: stored.body, as: UTF8.self))),
            ]),
        ])
    }

    private static func subscription(_ item: JSONValue) -> (stored: StoredSubscription, isNew: Bool)? {
        guard let parts = item.array, let id = parts.last?["id"]?.string.flatMap(RecordID.init),
            let body = parts.last?["body"]?.string, let kind = parts.first?.string, ["subscribed", "known"].contains(kind)
        else { return nil }
        return (StoredSubscription(id: id, body: Array(body.utf8)), kind == "subscribed")
    }

    private static func encode(_ outcome: Addition.Outcome) -> JSONValue {
        switch outcome {
        case .success(.created(let download)): .array([.string("created"), DownloadSnapshot.encode(download)])
        case .success(.existing(let download)): .array([.string("existing"), DownloadSnapshot.encode(download)])
        case .failure(let problem): .array([.string("refused"), encode(problem)])
        }
    }

    private static func encode(_ problem: Problem) -> JSONValue {
        let members = [
            ("code", problem.code.rawValue), ("detail", problem.detail), ("state", problem.state),
            ("id", problem.id),
        ]
        return .object(members.compactMap { name, text in text.map { JSONMember(name: name, value: .string($0)) } })
    }

    private static func decode(_ item: JSONValue) throws(StoreError) -> Addition.Outcome {
        let parts = item.array ?? []
        let value = parts.last ?? .null
        switch (parts.first?.string, DownloadSnapshot.decode(value), problem(value)) {
        case ("created", let download?, _): return .success(.created(download))
        case ("existing", let download?, _): return .success(.existing(download))
        case ("refused", _, let problem?): return .failure(problem)
        default: throw .damaged("the stored outcome of an idempotency key cannot be decoded")
        }
    }

    private static func problem(_ value: JSONValue) -> Problem? {
        guard let code = value["code"]?.string, let detail = value["detail"]?.string else { return nil }
        return Problem(
            ProblemCode(rawValue: code) ?? .internalError, detail, state: value["state"]?.string,
            id: value["id"]?.string)
    }
}

extension StoreReader {
    /// Returns the outcome of the request with an idempotency key; `nil` if no service has carried it out.
    package func idempotencyRecord(_ key: String) throws(StoreError) -> IdempotencyRecord? {
        var record: IdempotencyRecord?
        let sql = "SELECT \(IdempotencyRow.columns) FROM \(dialect.schema)idempotency_keys WHERE key = $1"
        try rows("key", sql, [[key]]) { record = try IdempotencyRow.record(from: $0) }
        return record
    }
}
