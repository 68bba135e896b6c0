/// A parser that receives untrusted bytes, and the properties that must hold for all bytes.
///
/// A call checks that the parser returns without a trap. ``check(_:)`` compares the result with a second, simpler
/// reading of the same bytes, with the result of another division, or with text that the parser wrote itself.
public enum Property: String, CaseIterable, Sendable {
    /// A stream of requests with chunked bodies.
    case request
    /// A chunked body.
    case chunked
    /// Request targets, queries, URLs and references.
    case url
    /// Range and Content-Range.
    case range
    /// HTTP dates and RFC 3339 timestamps.
    case date
    /// Content-Disposition and Content-Type.
    case disposition
    /// Link fields.
    case link
    /// Entity tags and the conditional fields.
    case condition
    /// JSON texts.
    case json
    /// Forwarded, the members of X-Forwarded-For, and prefixes of paths.
    case forwarded
    /// A client's bytes on a WebSocket.
    case websocket
    /// Feeds, and documents of XML.
    case feed
    /// Responses that the HTTP client reads from a connection.
    case responses

    /// Throws if a property does not hold for these bytes.
    public func check(_ bytes: [UInt8]) throws(Violation) {
        switch self {
        case .request: try checkRequests(bytes)
        case .chunked: try checkChunked(bytes)
        case .url: try checkURL(bytes)
        case .range: try checkRanges(bytes)
        case .date: try checkDate(bytes)
        case .disposition: try checkDisposition(bytes)
        case .link: try checkLinks(bytes)
        case .condition: try checkConditions(bytes)
        case .json: try checkJSON(bytes)
        case .forwarded: try checkForwarded(bytes)
        case .websocket: try checkFrames(bytes)
        case .feed: try checkFeed(bytes)
        case .responses: try checkResponses(bytes)
        }
    }
}
