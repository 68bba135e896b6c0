/// A whole message of a WebSocket, its fragments put together: RFC 6455 §5.6.
public struct WebSocketMessage: Sendable, Equatable {
    /// What the bytes are.
    public enum Kind: Sendable {
        /// UTF-8.
        case text
        /// Whatever the application takes them for.
        case binary
    }

    /// What the bytes are.
    public var kind: Kind
    /// Those of a text that was received are valid UTF-8.
    public var bytes: [UInt8]

    /// A message of those bytes.
    public init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}
