internal import System

/// The id of one connection of a loop. Slots of the table are reused, so the generation distinguishes old messages from
/// new ones.
struct ConnectionID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    /// The id as one number, for the poller.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}

extension ConnectionID {
    init(token: UInt64) {
        slot = UInt32(truncatingIfNeeded: token)
        generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// A message from another thread to an event loop.
enum Message: Sendable {
    /// A connection that another loop has accepted.
    case adopt(descriptor: Int32, SocketAddress)
    /// A task's response to the connection's request of the given number.
    case response(ConnectionID, request: UInt64, Response)
    /// A task's reply to a message of a WebSocket.
    case answer(ConnectionID, number: UInt64, OutgoingMessage?)
    /// A stream or a WebSocket has bytes to send.
    case wake(ConnectionID)
    /// Permits have been revoked.
    case endRevoked
    /// The connection must give way to a new one, if it has been idle since the given moment.
    case closeIfIdle(ConnectionID, since: Moment)
    /// The orderly shutdown begins; remaining connections are closed at the deadline.
    case stop(deadline: ContinuousClock.Instant)
}

/// The messages of other threads to an event loop.
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

    /// Adds a message; returns false if the loop has ended and will not read it.
    @discardableResult
    func post(_ message: Message) -> Bool {
        let (isDelivered, isFirst) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            contents.messages.append(message)
            return (true, contents.messages.count == 1)
        }
        // Only the first message signals: with others waiting, the loop has already been signalled.
        if isFirst { wakeup.signal() }
        if !isDelivered { message.discard() }
        return isDelivered
    }

    /// Swaps the messages with an empty array, whose storage is reused.
    func take(into messages: inout [Message]) {
        contents.withLock { swap(&$0.messages, &messages) }
    }

    /// Refuses further messages; returns the unread ones.
    func close() -> [Message] {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents.messages = [] }
            return contents.messages
        }
    }
}

extension Message {
    /// Releases the resources of a message that is not handled.
    func discard() {
        switch self {
        case .adopt(let descriptor, _): _ = Socket(owning: descriptor)
        case .response(_, _, let response): response.discardBody()
        case .answer, .wake, .closeIfIdle, .endRevoked, .stop: break
        }
    }
}
