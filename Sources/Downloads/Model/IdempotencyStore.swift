internal import HTTPCore

/// The answers to requests with a key: those of the last day, up to a bound. The oldest go first.
struct IdempotencyStore: Sendable {
    /// How much is remembered.
    struct Limits: Sendable {
        /// Keys at most: a client that sends one with every request, once a second, is covered for hours.
        var keys = 10_000
        /// Bytes of memory at most, about: batches have long answers.
        var bytes = 16 * 1024 * 1024
        /// For how long: a client that has not come back after a day has forgotten, too.
        var lifetime: Duration = .seconds(24 * 3600)
    }

    /// What is known of a key.
    enum Lookup: Sendable, Equatable {
        /// Nothing: the request is to be carried out.
        case unknown
        /// The request has been answered so.
        case answered([KeptOutcome])
        /// The key was used for another request.
        case mismatch
    }

    private let limits: Limits
    private var answers: [String: KeptAnswer] = [:]
    /// Keys from the oldest on; those before `first` have been forgotten.
    private var order: [String] = []
    private var first = 0
    private var bytes = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var count: Int { answers.count }

    func lookUp(_ key: RequestKey, now: Timestamp) -> Lookup {
        guard let answer = answers[key.name], !isOver(answer, now) else { return .unknown }
        return answer.digest == key.digest ? .answered(answer.outcomes) : .mismatch
    }

    /// Remembers an answer.
    /// - Returns: the keys that were forgotten for it.
    mutating func remember(_ answer: KeptAnswer, now: Timestamp) -> [String] {
        forget(answer.key)
        answers[answer.key] = answer
        order.append(answer.key)
        bytes += answer.size
        var forgotten: [String] = []
        while first < order.count, let oldest = answers[order[first]] {
            let isTooMuch = (answers.count > limits.keys || bytes > limits.bytes) && oldest.key != answer.key
            guard isTooMuch || isOver(oldest, now) else { break }
            forgotten.append(oldest.key)
            bytes -= oldest.size
            answers[oldest.key] = nil
            first += 1
        }
        if first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return forgotten
    }

    /// Forgets the answer to one key.
    mutating func forget(_ key: String) {
        guard let answer = answers.removeValue(forKey: key) else { return }
        bytes -= answer.size
        if let index = order[first...].firstIndex(of: key) { order.remove(at: index) }
    }

    private func isOver(_ answer: KeptAnswer, _ now: Timestamp) -> Bool {
        let age = now.millisecondsSinceEpoch.subtractingReportingOverflow(answer.createdAt.millisecondsSinceEpoch).partialValue
        return .milliseconds(age) >= limits.lifetime
    }
}
