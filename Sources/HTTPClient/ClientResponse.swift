public import HTTPCore

/// The head of a final response: neither an interim one nor a redirect that was followed.
public struct ClientResponseHead: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The fields in order, values as they were sent.
    public var fields: Fields
    /// Where the response came from, after redirects.
    public var url: HTTPURL
    /// The protocol version of the response.
    public var version: HTTPVersion
    /// The length of the body as announced, in bytes of what the sink receives; nil if unknown (chunked, decoded, or ended by the
    /// connection's close). For a HEAD request the length a GET would have.
    public var contentLength: Int64?

    /// A head from its parts.
    public init(status: HTTPStatus, fields: Fields, url: HTTPURL, version: HTTPVersion, contentLength: Int64?) {
        self.status = status
        self.fields = fields
        self.url = url
        self.version = version
        self.contentLength = contentLength
    }
}

/// A response with its whole body in memory.
public struct ClientResponse: Sendable {
    /// Status and fields.
    public var head: ClientResponseHead
    /// The body, decoded if the request accepted encodings.
    public var body: [UInt8]

    /// A response from its parts.
    public init(head: ClientResponseHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}
