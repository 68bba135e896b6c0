/// A complete message of a WebSocket, with its fragments joined: RFC 6455 §5.6.
public struct WebSocketMessage: Sendable, Equatable {
    /// The kind of a message.
    public enum Kind: Sendable {
        /// UTF-8 text.
        case text
        /// Bytes that the application interprets.
        case binary
    }

    /// The kind of the message.
    public var kind: Kind
    /// The payload. The bytes of a received text are valid UTF-8.
    public var bytes: [UInt8]

    /// Creates a message.
    public init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}
