public import HTTPCore

/// The server's side of one WebSocket.
///
/// Methods are called on one event loop's thread, one at a time, and must not block.
public protocol WebSocketHandler: AnyObject, Sendable {
    /// Prepares for messages, which may be sent from now on. Called once, but not if the client has left.
    func opened(_ socket: WebSocket)

    /// Receives a complete message within ``WebSocketLimits/message``; text is valid UTF-8. Not called after
    /// ``closed()``, nor while the socket is being closed.
    func received(_ message: WebSocketMessage, on socket: WebSocket) -> WebSocketAnswer

    /// Ends the handler, for any reason. Called exactly once, even without ``opened(_:)``.
    func closed()
}

/// The reply to a message.
public enum WebSocketAnswer: Sendable {
    /// The reply is ready; nil: there is none.
    case ready(OutgoingMessage?)
    /// A task returns the reply, which is sent immediately, so replies may overtake each other. The task is cancelled
    /// when the socket ends, and its reply is then discarded.
    ///
    /// The server stops reading while ``WebSocketLimits/pendingMessages`` tasks run, or while replies wait for the
    /// client.
    case later(@Sendable () async -> OutgoingMessage?)
}

/// An encoded message. All sockets that send it share its bytes.
public struct OutgoingMessage: Sendable {
    let frame: [UInt8]
    /// Called when the message is in the connection's queue, as the reply to a message.
    let enqueued: (@Sendable () -> Void)?

    /// Creates a text message from UTF-8. The client fails the connection if the bytes are not valid.
    /// - Parameters:
    ///   - text: The text.
    ///   - enqueued: Called on the event loop when the message is queued as a reply. Messages sent afterwards follow
    ///     it.
    public init(text: [UInt8], enqueued: (@Sendable () -> Void)? = nil) {
        self.init(.text, text, enqueued)
    }

    init(_ kind: WebSocketMessage.Kind, _ payload: [UInt8], _ enqueued: (@Sendable () -> Void)? = nil) {
        self.enqueued = enqueued
        var frame: [UInt8] = []
        // The header of a frame has up to 10 bytes.
        frame.reserveCapacity(payload.count + 10)
        WebSocketEncoder.encode(kind, payload.span, into: &frame)
        self.frame = frame
    }
}
