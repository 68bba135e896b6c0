/// The framing that determines the end of a request's body: RFC 9112 §6.3.
public enum BodyFraming: Sendable, Hashable {
    /// No body: neither Content-Length nor Transfer-Encoding was sent.
    case none
    /// A body of the given number of bytes, 0 or more, from Content-Length.
    case length(Int64)
    /// Chunks, which ``ChunkedDecoder`` reads.
    case chunked
}
