package import HTTPCore
internal import System

/// The outcome of a request with an idempotency key.
package struct IdempotencyRecord: Sendable {
    package var key: String
    /// The SHA-256 of the request.
    package var digest: [UInt8]
    /// The outcome of each item, with the downloads at that time.
    package var outcomes: [Addition.Outcome]
    /// The faults despite which the request was carried out, in sentences.
    package var warnings: [String] = []
    /// The new or existing subscription at that time; `nil` for a request of downloads.
    package var subscription: (stored: StoredSubscription, isNew: Bool)?
    package var createdAt: Timestamp

    package init(key: String, digest: [UInt8], outcomes: [Addition.Outcome], createdAt: Timestamp) {
        (self.key, self.digest, self.outcomes, self.createdAt) = (key, digest, outcomes, createdAt)
    }

    /// The approximate size in memory, in bytes.
    var memorySize: Int { outcomes.reduce(key.utf8.count + 128 + (subscription?.stored.body.count ?? 0)) { $0 + $1.memorySize } }
}

/// The outcomes of the last day's requests with idempotency keys, up to a bound. The oldest are removed first.
package struct IdempotencyStore: Sendable {
    /// Bounds of the outcomes that are kept.
    package struct Limits: Sendable {
        /// The maximum number of keys. It covers hours of a client that sends a key once per second.
        package var keys = 10_000
        /// The approximate maximum size in memory, in bytes. Batches add many downloads.
        package var bytes = 16 * 1024 * 1024
        /// The time for which an outcome is kept. Clients are not expected to repeat a request after a day.
        package var lifetime: Duration = .seconds(24 * 3600)

        package init(keys: Int = 10_000, bytes: Int = 16 * 1024 * 1024, lifetime: Duration = .seconds(24 * 3600)) {
            (self.keys, self.bytes, self.lifetime) = (keys, bytes, lifetime)
        }
    }

    /// The result of looking up a key.
    package enum Lookup: Sendable {
        /// The key is new: the request is to be carried out.
        case unknown
        /// The request has been carried out, with this outcome.
        case found(IdempotencyRecord)
        /// The key was used for another request.
        case mismatch
    }

    private let limits: Limits
    private var records: [ExactText: IdempotencyRecord] = [:]
    /// The keys, from the oldest on; those before `first` have been removed.
    private var order: [ExactText] = []
    private var first = 0
    private var bytes = 0

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    package var count: Int { records.count }

    package func lookUp(_ key: RequestKey, now: Timestamp) -> Lookup {
        guard let record = records[ExactText(key.name)], !isOver(record, now) else { return .unknown }
        return record.digest == key.digest ? .found(record) : .mismatch
    }

    /// Keeps the outcome of a request.
    /// - Returns: The keys whose outcomes were removed for it.
    package mutating func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] {
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

    /// Removes the outcome of the request with this key.
    package mutating func forget(_ key: String) {
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
