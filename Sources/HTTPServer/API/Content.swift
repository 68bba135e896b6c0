/// Where a response's body comes from.
public enum Content: Sendable {
    /// From the response's `body`.
    case bytes
    /// From these, one after the other; the length is their sum.
    case parts([BodyPart])
    /// From a stream, as the client takes it. `length` is in bytes; nil if nobody knows yet: then HTTP/1.1 clients get chunks
    /// and HTTP/1.0 clients a body that ends with the connection.
    case stream(any BodyStream, length: Int64?)
    /// The connection becomes a WebSocket: made by ``Response/upgrade(to:for:)``.
    case webSocket(WebSocketUpgrade)
}
