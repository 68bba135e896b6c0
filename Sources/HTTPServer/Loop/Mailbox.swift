internal import System

/// Names one connection of one loop. Places in the table are used again, so the generation distinguishes old messages from new.
struct ConnectionID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    /// As one number, for the poller.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(token: UInt64) {
        slot = UInt32(truncatingIfNeeded: token)
        generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// What other threads send to an event loop.
enum Message: Sendable {
    /// A connection that another loop has accepted.
    case adopt(descriptor: Int32, SocketAddress)
    /// The response of a task to the connection's request of that number.
    case response(ConnectionID, request: UInt64, Response)
    /// What a task answers to a message of a WebSocket.
    case answer(ConnectionID, number: UInt64, OutgoingMessage?)
    /// A stream, or a WebSocket, has something to send.
    case wake(ConnectionID)
    /// Permits have been revoked.
    case endRevoked
    /// A new connection needs the place of this one, if it has been idle since that moment.
    case giveWay(ConnectionID, since: Moment)
    /// Begin the orderly shutdown; what is left at that time is cut off.
    case stop(deadline: ContinuousClock.Instant)
}

/// The way into an event loop from other threads.
final class Mailbox: Sendable {
    private struct Contents: Sendable {
        var messages: [Message] = []
        var isClosed = false
    }

    private let contents = Locked(Contents())
    let wakeup: Wakeup

    init() throws(SystemError) {
        wakeup = try Wakeup()
    }

    /// Leaves a message; false if the loop has ended and won't read it.
    @discardableResult
    func post(_ message: Message) -> Bool {
        let (isDelivered, isFirst) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            contents.messages.append(message)
            return (true, contents.messages.count == 1)
        }
        // Whoever finds messages waiting knows that the loop has been signalled.
        if isFirst { wakeup.signal() }
        if !isDelivered { message.discard() }
        return isDelivered
    }

    /// Exchanges the messages for an empty array, whose storage the next ones use.
    func take(into messages: inout [Message]) {
        contents.withLock { swap(&$0.messages, &messages) }
    }

    /// Takes no more messages; returns those that nobody has read.
    func close() -> [Message] {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents.messages = [] }
            return contents.messages
        }
    }
}

extension Message {
    /// Frees what a message that nobody acts on holds.
    func discard() {
        switch self {
        case .adopt(let descriptor, _): _ = Socket(owning: descriptor)
        case .response(_, _, let response): response.discardBody()
        case .answer, .wake, .giveWay, .endRevoked, .stop: break
        }
    }
}
