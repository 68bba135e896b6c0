/// The commands of other replicas that this one has taken, by their numbers: one that comes again is not carried out again.
struct ServedCommands {
    /// The knowledge of a command that comes.
    enum Verdict {
        case new
        /// It is being carried out, or was long ago: it is left alone.
        case taken
        case answered(FleetLetter.Answer)
    }

    private struct Key: Hashable {
        let sender: Int64
        let number: UInt64
    }

    private let capacity: Int
    private var answers: [Key: FleetLetter.Answer?] = [:]
    /// The order in which they came; those before `first` are forgotten.
    private var order: [Key] = []
    private var first = 0
    /// The greatest forgotten number of each sender.
    private var forgotten: [Int64: UInt64] = [:]

    /// The most senders whose forgotten numbers are kept: a replica that starts is another one.
    private static let senderLimit = 1_024

    /// - Parameter capacity: the most commands that are kept, of about 1 KB each.
    init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// The number of commands that are kept.
    var count: Int { answers.count }

    /// Takes a command, unless it was taken before.
    mutating func take(_ number: UInt64, from sender: Int64) -> Verdict {
        let key = Key(sender: sender, number: number)
        if let known = answers[key] { return known.map(Verdict.answered) ?? .taken }
        if let last = forgotten[sender], number <= last { return .taken }
        answers.updateValue(nil, forKey: key)
        order.append(key)
        if answers.count > capacity { forgetFirst() }
        return .new
    }

    /// Keeps the answer to a command that was taken.
    mutating func keep(_ answer: FleetLetter.Answer, to sender: Int64) {
        let key = Key(sender: sender, number: answer.number)
        if answers[key] != nil { answers.updateValue(answer, forKey: key) }
    }

    private mutating func forgetFirst() {
        let key = order[first]
        first += 1
        answers.removeValue(forKey: key)
        if forgotten.count >= Self.senderLimit, forgotten[key.sender] == nil { forgotten = [:] }
        forgotten[key.sender] = max(forgotten[key.sender] ?? 0, key.number)
        guard first > capacity else { return }
        order.removeFirst(first)
        first = 0
    }
}
