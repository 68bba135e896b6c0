public import HTTPCore

/// One request with its limits.
public struct ClientRequest: Sendable {
    /// The method, a case-sensitive token (RFC 9110 §9.1).
    public var method: String = "GET"
    /// The URL. Its user information is sent as Basic credentials, but only to its origin.
    public var url: HTTPURL
    /// The caller's fields, including credentials. They are sent to the origin of `url`, as far as `trust` allows. After a
    /// redirect to another origin only those that are harmless (``HTTPCore/FieldName/isHarmless``) are sent, also to the
    /// first origin. Names that ``reserves(_:)`` returns true for are refused.
    public var fields: [(name: String, value: String)] = []
    /// The fields that are conditions (RFC 9110 §13.1), about the content of `url`. The target of permanent redirects
    /// gets none.
    public var conditions: [(name: String, value: String)] = []
    /// The trust in `url`. It is less than the default if the caller has fields of another origin, or an earlier response
    /// has named the URL.
    public var trust = RequestTrust()
    /// Whether the operator's user agent and credentials for origins are sent. They are for downloads, catalogues and
    /// feeds, and not for the operator's own services and webhooks.
    public var isForOrigin = false
    /// The value of the Range field, such as `bytes=1000-`. Redirects keep it.
    public var range: String?
    /// The value of the If-Range field: a strong entity tag or a date (RFC 9110 §13.1.5). Redirects keep it.
    public var ifRange: FieldValue?
    /// The content of the request; nil: none.
    public var body: RequestBody?
    /// The guard that checks every host and address of the transfer; nil: none, for destinations that the operator
    /// chose.
    public var guarding: DestinationGuard?
    /// The time limit of name resolution, connection and TLS handshake together, for each hop; nil: none.
    public var connectTimeout: Duration? = .seconds(15)
    /// The time limit from the connection to the complete response head, for each hop; nil: none. If the content is a
    /// file, it begins with the file's last byte. ``TransferSink/extendedLimit()`` may extend it.
    public var headTimeout: Duration? = .seconds(30)
    /// The time limit of the whole transfer, redirects included; nil: none.
    public var totalTimeout: Duration?
    /// The minimum speed of a body, received or sent from a file. A slower one ends as ``ClientError/stalled``; nil: no
    /// minimum. ``TransferSink/extendedLimit()`` may extend the period for a received body.
    public var lowSpeedLimit: (bytesPerSecond: Double, over: Duration)? = (1, .seconds(30))
    /// The speed limiters of the body, from the narrowest to the widest. Transfers with the same first limiter share
    /// one part of the others. Waiting for a limiter does not count as a stall.
    public var speedLimiters: [SpeedLimiter] = []
    /// The maximum number of redirects. With 0, the first redirect ends as ``ClientError/tooManyRedirects``. With nil,
    /// a redirect is a response like any other.
    public var maximumRedirects: Int? = 20
    /// Whether compressed content is requested and decoded. By default `Accept-Encoding: identity` is sent and nothing
    /// is decoded, since byte offsets of compressed content do not apply to the file.
    public var acceptsEncodings = false

    /// Creates a GET request with the default limits.
    public init(url: HTTPURL) {
        self.url = url
    }

    /// Whether only the client may set the field: it frames the message, belongs to the connection, or is another
    /// property here.
    public static func reserves(_ name: FieldName) -> Bool {
        reservedNames.contains(name.lowercased)
    }

    private static let reservedNames: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "if-range", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension ClientRequest {
    /// The reason why the request cannot be sent: an invalid method, or a field that is illegal or reserved. Nil if it
    /// can be sent.
    func problem() -> ClientError? {
        guard FieldName(method) != nil, method != "CONNECT" else {
            return .invalidRequest("\"\(method)\" is not a usable method")
        }
        for field in fields + conditions {
            guard let name = FieldName(field.name) else {
                return .invalidRequest("\"\(field.name)\" is not a field name")
            }
            if Self.reserves(name) { return .invalidRequest("the field \(name) is set by the client itself") }
            // The value may be a secret, so the message omits it.
            if !Self.isFieldValue(field.value) { return .invalidRequest("the value of \(name) has control characters") }
        }
        if let range, !Self.isFieldValue(range) { return .invalidRequest("the range has control characters") }
        if let ifRange, !Self.isFieldValue(ifRange.bytes) { return .invalidRequest("the If-Range value has control characters") }
        return nil
    }

    /// Whether the text has no control characters except HTAB: RFC 9110 §5.5.
    private static func isFieldValue(_ value: String) -> Bool { isFieldValue(Array(value.utf8)) }

    private static func isFieldValue(_ value: [UInt8]) -> Bool {
        value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
