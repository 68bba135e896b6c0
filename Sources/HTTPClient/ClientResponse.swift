public import HTTPCore

/// The head of a final response. Interim responses and redirects that were followed are not final.
public struct ClientResponseHead: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The fields in order, with their values as sent.
    public var fields: Fields
    /// The URL of the response, after redirects.
    public var url: HTTPURL
    /// The announced length of the body that the sink receives, in bytes. Nil if unknown: chunked, decoded, or ended by
    /// the connection's close. For a HEAD request it is the length that a GET would have.
    public var contentLength: Int64?
    /// The target of the permanent redirects (301 and 308) before any other redirect: the new address of the content. It
    /// never leads from https to http. Without such a redirect, it is the request's URL.
    public var permanentURL: HTTPURL
    /// Whether the request had conditions when it was sent to `url`.
    public var isConditional = false
    /// The trust in `url`.
    public var trust = RequestTrust()

    /// Creates a head from its parts.
    public init(status: HTTPStatus, fields: Fields, url: HTTPURL, contentLength: Int64?) {
        self.status = status
        self.fields = fields
        self.url = url
        permanentURL = url
        self.contentLength = contentLength
    }
}

/// A response with its whole body in memory.
public struct ClientResponse: Sendable {
    /// The head.
    public var head: ClientResponseHead
    /// The body, decoded if the request accepted encodings.
    public var body: [UInt8]
}
