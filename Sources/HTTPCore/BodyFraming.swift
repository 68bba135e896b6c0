/// How a request says where its body ends: RFC 9112 §6.3.
public enum BodyFraming: Sendable, Hashable {
    /// There is no body: neither Content-Length nor Transfer-Encoding was sent.
    case none
    /// Exactly so many bytes, from Content-Length; 0 or more.
    case length(Int64)
    /// Chunks, to be read with ``ChunkedDecoder``.
    case chunked
}
