/// The source of a response's body.
public enum Content: Sendable {
    /// The response's `body`.
    case bytes
    /// Parts, one after the other. The length is their sum.
    case parts([BodyPart])
    /// A stream, at the client's speed. `length` is in bytes; nil if unknown. Without a length, HTTP/1.1 clients
    /// receive chunks, and HTTP/1.0 clients a body that ends with the connection.
    case stream(any BodyStream, length: Int64?)
    /// No body: the connection becomes a WebSocket. ``Response/upgrade(to:for:)`` creates this.
    case webSocket(WebSocketUpgrade)
}
