public import HTTPCore

/// What is on the server's side of one WebSocket.
///
/// Methods are called on one event loop's thread, one at a time, and must not block.
public protocol WebSocketHandler: AnyObject, Sendable {
    /// The client's messages come from now on, and messages may be sent. Called once, and not at all if the client has left.
    func opened(_ socket: WebSocket)

    /// A message has come, whole and within ``WebSocketLimits/message``; text is valid UTF-8. Not called after ``closed()``, nor once the
    /// socket is being closed.
    func received(_ message: WebSocketMessage, on socket: WebSocket) -> WebSocketAnswer

    /// It is over, however that came. Called exactly once, also if ``opened(_:)`` never was.
    func closed()
}

/// How a message is answered.
public enum WebSocketAnswer: Sendable {
    /// By that, at once; nil: not at all.
    case ready(OutgoingMessage?)
    /// By what the task returns, as soon as it does: answers may overtake each other. The task is cancelled when the socket ends, and what
    /// it returns then is dropped.
    ///
    /// While ``WebSocketLimits/pendingMessages`` are being answered so, or answers wait for the client to read them, no more is read.
    case later(@Sendable () async -> OutgoingMessage?)
}

/// A message as it is sent: encoded once, and its bytes shared by all that send it.
public struct OutgoingMessage: Sendable {
    let frame: [UInt8]
    /// Called when it stands in the connection's queue, as the answer to a message.
    let enqueued: (@Sendable () -> Void)?

    /// A text.
    public init(text: String) {
        self.init(text: Array(text.utf8))
    }

    /// A text, which must be UTF-8: the client fails the connection otherwise.
    /// - Parameter enqueued: called on the event loop when the text is an answer that stands in the connection's queue: what is sent from
    ///   then on comes behind it.
    public init(text: [UInt8], enqueued: (@Sendable () -> Void)? = nil) {
        self.init(.text, text, enqueued)
    }

    /// Bytes.
    public init(binary: [UInt8]) {
        self.init(.binary, binary)
    }

    private init(_ kind: WebSocketMessage.Kind, _ payload: [UInt8], _ enqueued: (@Sendable () -> Void)? = nil) {
        self.enqueued = enqueued
        var frame: [UInt8] = []
        // What stands before a payload takes up to 10 bytes.
        frame.reserveCapacity(payload.count + 10)
        WebSocketEncoder.encode(kind, payload.span, into: &frame)
        self.frame = frame
    }
}
