internal import HTTPCore
internal import System

/// What became of a request with a key.
struct IdempotencyRecord: Sendable {
    var key: String
    /// The SHA-256 of what was asked for.
    var digest: [UInt8]
    /// What became of each of its items, with the downloads as they were then.
    var outcomes: [Addition.Outcome]
    var createdAt: Timestamp

    /// Bytes of memory, about.
    var memorySize: Int { outcomes.reduce(key.utf8.count + 128) { $0 + $1.memorySize } }
}

/// What became of requests with a key: those of the last day, up to a bound. The oldest go first.
struct IdempotencyStore: Sendable {
    /// How much is remembered.
    struct Limits: Sendable {
        /// Keys at most: a client that sends one with every request, once a second, is covered for hours.
        var keys = 10_000
        /// Bytes of memory at most, about: batches add many downloads.
        var bytes = 16 * 1024 * 1024
        /// For how long: a client that has not come back after a day has forgotten, too.
        var lifetime: Duration = .seconds(24 * 3600)
    }

    /// What is known of a key.
    enum Lookup: Sendable {
        /// Nothing: the request is to be carried out.
        case unknown
        /// The request has been carried out, and this became of it.
        case found([Addition.Outcome])
        /// The key was used for another request.
        case mismatch
    }

    private let limits: Limits
    private var records: [ExactText: IdempotencyRecord] = [:]
    /// Keys from the oldest on; those before `first` have been forgotten.
    private var order: [ExactText] = []
    private var first = 0
    private var bytes = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var count: Int { records.count }

    func lookUp(_ key: RequestKey, now: Timestamp) -> Lookup {
        guard let record = records[ExactText(key.name)], !isOver(record, now) else { return .unknown }
        return record.digest == key.digest ? .found(record.outcomes) : .mismatch
    }

    /// Remembers what became of a request.
    /// - Returns: the keys that were forgotten for it.
    mutating func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] {
        forget(record.key)
        let key = ExactText(record.key)
        records[key] = record
        order.append(key)
        bytes += record.memorySize
        var forgotten: [String] = []
        while first < order.count, let oldest = records[order[first]] {
            let isTooMuch = (records.count > limits.keys || bytes > limits.bytes) && !oldest.key.isExactly(record.key)
            guard isTooMuch || isOver(oldest, now) else { break }
            forgotten.append(oldest.key)
            bytes -= oldest.memorySize
            records[order[first]] = nil
            first += 1
        }
        if first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return forgotten
    }

    /// Forgets the request with this key.
    mutating func forget(_ key: String) {
        let key = ExactText(key)
        guard let record = records.removeValue(forKey: key) else { return }
        bytes -= record.memorySize
        if let index = order[first...].firstIndex(of: key) { order.remove(at: index) }
    }

    private func isOver(_ record: IdempotencyRecord, _ now: Timestamp) -> Bool {
        let age = now.millisecondsSinceEpoch.subtractingReportingOverflow(record.createdAt.millisecondsSinceEpoch).partialValue
        return .milliseconds(age) >= limits.lifetime
    }
}
