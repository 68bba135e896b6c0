import HTTPCore
import JSON

/// The answer to a request with a key as a row of the table, and back.
///
/// Outcomes are a JSON array of arrays: `["created","<id>","<resource>"]`, `["existing","<id>","<resource>"]` or
/// `["refused","<words>"]`.
enum AnswerRow {
    static let saveStatement =
        "REPLACE INTO idempotency_keys (key, request_digest, outcomes, created_at) VALUES (?1, ?2, ?3, ?4)"
    static let loadStatement =
        "SELECT key, request_digest, outcomes, created_at FROM idempotency_keys ORDER BY created_at, key"

    /// Binds an answer to `saveStatement`.
    static func bind(_ answer: KeptAnswer, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, answer.key)
        try statement.bind(2, answer.digest)
        try statement.bind(3, encode(answer.outcomes))
        try statement.bind(4, answer.createdAt.millisecondsSinceEpoch)
    }

    /// The answer in the current row of `loadStatement`.
    ///
    /// - Throws: `StoreError.damaged` if a column holds what was never written there.
    static func answer(from row: SQLiteStatement) throws(StoreError) -> KeptAnswer {
        guard let key = row.text(0), let digest = row.blob(1), let outcomes = row.text(2).flatMap(decode) else {
            throw .damaged("the answer to an idempotency key cannot be read")
        }
        return KeptAnswer(
            key: key, digest: digest, outcomes: outcomes, createdAt: Timestamp(millisecondsSinceEpoch: row.integer(3)))
    }

    private static func encode(_ outcomes: [KeptOutcome]) -> String {
        let items = outcomes.map { outcome in
            switch outcome {
            case .created(let id, let shown): ["created", id.description, String(decoding: shown, as: UTF8.self)]
            case .existing(let id, let shown): ["existing", id.description, String(decoding: shown, as: UTF8.self)]
            case .refused(let words): ["refused", String(decoding: words, as: UTF8.self)]
            }
        }
        let value = JSONValue.array(items.map { .array($0.map { .string($0) }) })
        return String(decoding: value.serialized(), as: UTF8.self)
    }

    private static func decode(_ text: String) -> [KeptOutcome]? {
        guard let items = (try? JSONValue(parsing: Array(text.utf8)))?.array else { return nil }
        var outcomes: [KeptOutcome] = []
        for item in items {
            guard let parts = item.array, (2...3).contains(parts.count), let value = parts[1].string else { return nil }
            // An earlier release did not keep what was shown.
            let shown = Array((parts.count > 2 ? parts[2].string ?? "" : "").utf8)
            switch (parts[0].string, DownloadID(value)) {
            case ("created", let id?): outcomes.append(.created(id, shown: shown))
            case ("existing", let id?): outcomes.append(.existing(id, shown: shown))
            case ("refused", _): outcomes.append(.refused(Array(value.utf8)))
            default: return nil
            }
        }
        return outcomes
    }
}
