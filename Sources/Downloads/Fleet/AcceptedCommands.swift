internal import DownloadStore

/// The remote commands that this replica has accepted, by their numbers. A repeated one is not carried out again.
struct AcceptedCommands {
    /// The decision about a remote command.
    enum Verdict {
        case new
        /// It is in progress, or was forgotten long ago; it is ignored.
        case known
        case replied(RemoteMessage.Reply)
    }

    private struct Key: Hashable {
        let sender: Int64
        let number: UInt64
    }

    private let capacity: Int
    private var replies: [Key: RemoteMessage.Reply?] = [:]
    /// The keys in order of arrival. Those before `first` are forgotten.
    private var order: [Key] = []
    private var first = 0
    /// The greatest forgotten number of each sender.
    private var forgotten: [Int64: UInt64] = [:]

    /// The maximum number of senders whose forgotten numbers are kept. Each start of a replica is another sender.
    private static let senderLimit = 1_024

    /// Creates an empty history.
    /// - Parameter capacity: The maximum number of remote commands that are kept, about 1 KB each.
    init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// The number of remote commands that are kept.
    var count: Int { replies.count }

    /// Accepts a remote command unless it was accepted before.
    mutating func accept(_ number: UInt64, from sender: Int64) -> Verdict {
        let key = Key(sender: sender, number: number)
        if let known = replies[key] { return known.map(Verdict.replied) ?? .known }
        if let last = forgotten[sender], number <= last { return .known }
        replies.updateValue(nil, forKey: key)
        order.append(key)
        if replies.count > capacity { forgetFirst() }
        return .new
    }

    /// Keeps the reply to an accepted remote command.
    mutating func keep(_ reply: RemoteMessage.Reply, to sender: Int64) {
        let key = Key(sender: sender, number: reply.number)
        if replies[key] != nil { replies.updateValue(reply, forKey: key) }
    }

    private mutating func forgetFirst() {
        let key = order[first]
        first += 1
        replies.removeValue(forKey: key)
        if forgotten.count >= Self.senderLimit, forgotten[key.sender] == nil { forgotten = [:] }
        forgotten[key.sender] = max(forgotten[key.sender] ?? 0, key.number)
        guard first > capacity else { return }
        order.removeFirst(first)
        first = 0
    }
}
