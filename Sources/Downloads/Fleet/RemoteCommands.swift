internal import DownloadCore
internal import DownloadStore

/// The remote commands that a replica has sent and accepted, and the messages that it has to send. Pure.
struct RemoteCommands {
    /// A command for another replica's download.
    struct PendingCommand {
        /// The wait for the result.
        let waiter: DownloadMachine.Waiter
        let id: RecordID
        let request: DownloadMachine.Command.Request
        /// Whether the download is still the version that the client means; `nil`: any version.
        let isExpected: (@Sendable (Download) -> Bool)?
        let deadline: ContinuousClock.Instant
        /// The number of replies so far from replicas that did nothing.
        fileprivate(set) var misses = 0
    }

    /// A remote command without a reply.
    private struct Sent {
        let pending: PendingCommand
        let command: RemoteMessage.Command
        /// The instance that the command was sent to.
        let owner: Int64
        /// Whether the command may have been sent less than a second ago.
        var isNew = true
    }

    /// The consequence of a reply.
    package enum Outcome {
        /// The wait for the result has ended.
        case ended(DownloadMachine.Waiter, Result<Download, DownloadError>)
        /// The other replica has done nothing, so the owner has to be found again. `pauses`: after a pause.
        case missed(PendingCommand, pauses: Bool)
    }

    /// The number of misses without a pause. A pause follows each further miss.
    private static let quickMisses = 5

    /// The number of the last remote command.
    private var lastNumber: UInt64
    private var sent: [UInt64: Sent] = [:]
    private var accepted = AcceptedCommands()
    /// The messages to send, by the instances that receive them.
    private var messages: [Int64: RemoteMessage] = [:]

    /// The number of accepted commands that are remembered.
    var acceptedCount: Int { accepted.count }

    /// Creates the state of an instance without commands.
    /// - Parameter instance: The instance. Its numbers follow it. So a reply to an earlier instance on the same data directory,
    ///   which this instance receives too, is for none of its commands.
    init(instance: Int64) { lastNumber = UInt64(bitPattern: instance) }

    // MARK: - Own commands

    /// Adds a command to the messages to send. It gets a new number, so that a late reply to an earlier one is ignored.
    /// - Parameters:
    ///   - owner: The instance that owns the download.
    ///   - revision: The revision that the download must have; `nil`: any.
    mutating func send(_ pending: PendingCommand, to owner: Int64, revision: UInt64?) {
        lastNumber &+= 1
        let command = RemoteMessage.Command(number: lastNumber, id: pending.id, request: pending.request, revision: revision)
        sent[command.number] = Sent(pending: pending, command: command, owner: owner)
        messages[owner, default: RemoteMessage()].commands.append(command)
    }

    /// Takes the messages to send: one for each instance.
    mutating func takeMessages() -> [StoreChange] {
        defer { messages = [:] }
        return messages.map { .fleet(.send($1.text, to: $0)) }
    }

    /// Returns messages that repeat the commands without a reply for a second, under their numbers: a command or its
    /// reply may have been lost. Called once a second.
    /// - Parameter isAwaited: Whether a result is still awaited. Other commands are forgotten.
    mutating func repetitions(where isAwaited: (DownloadMachine.Waiter) -> Bool) -> [StoreChange] {
        var messages: [Int64: RemoteMessage] = [:]
        for (number, command) in sent {
            if !isAwaited(command.pending.waiter) {
                sent[number] = nil
            } else if command.isNew {
                sent[number]?.isNew = false
            } else {
                messages[command.owner, default: RemoteMessage(repeatedFor: command.owner)].commands.append(command.command)
            }
        }
        return messages.map { .fleet(.send($1.text, to: $0)) }
    }

    /// Handles the reply to a command.
    /// - Returns: The consequence; `nil`: the command has a reply already, or is forgotten.
    mutating func receive(_ reply: RemoteMessage.Reply) -> Outcome? {
        guard var pending = sent.removeValue(forKey: reply.number)?.pending else { return nil }
        switch reply.result {
        case nil, .failure(.overloaded):
            pending.misses += 1
            return .missed(pending, pauses: reply.result != nil || pending.misses > Self.quickMisses)
        case let result?: return .ended(pending.waiter, result)
        }
    }

    // MARK: - Commands of other replicas

    /// Accepts the commands of a message, and adds the known replies to repeated ones to the messages to send.
    /// - Returns: The commands that have to be carried out.
    mutating func accept(_ commands: [RemoteMessage.Command], from sender: Int64) -> [RemoteMessage.Command] {
        commands.filter { command in
            switch accepted.accept(command.number, from: sender) {
            case .new: return true
            case .known: return false
            case .replied(let reply):
                messages[sender, default: RemoteMessage()].replies.append(reply)
                return false
            }
        }
    }

    /// Adds the reply to an accepted command to the messages to send.
    /// - Parameter result: The result; `nil`: this replica does not own the download.
    mutating func reply(_ result: Result<Download, DownloadError>?, to number: UInt64, from sender: Int64) {
        let reply = RemoteMessage.Reply(number: number, result: result)
        accepted.keep(reply, to: sender)
        messages[sender, default: RemoteMessage()].replies.append(reply)
    }
}
