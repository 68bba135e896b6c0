public import HTTPCore

/// One request, and how it is to be carried out.
public struct ClientRequest: Sendable {
    /// The method: a token, compared with case (RFC 9110 §9.1).
    public var method: String = "GET"
    /// Where to. User information in it is sent as Basic credentials, to this origin only.
    public var url: HTTPURL
    /// Fields of the caller, credentials among them. They go to the origin of `url` and, once a redirect has led to another origin,
    /// nowhere any more. Names that ``reserves(_:)`` tells are refused.
    public var fields: [(name: String, value: String)] = []
    /// The value of the Range field, such as `bytes=1000-`: kept over redirects.
    public var range: String?
    /// The value of the If-Range field: a strong entity tag or a date (RFC 9110 §13.1.5), kept over redirects.
    public var ifRange: FieldValue?
    /// The content to send; nil: none.
    public var body: RequestBody?
    /// Checks every host and address on the way; nil: no guard, for destinations that the operator chose.
    public var guarding: DestinationGuard?
    /// The most time for resolving the name, connecting and the TLS handshake, for each hop.
    public var connectTimeout: Duration = .seconds(15)
    /// The most time from a ready connection to a complete response head, for each hop. If the content is a file, from its last byte on.
    public var headTimeout: Duration = .seconds(30)
    /// The most time for everything, redirects included; nil: no limit.
    public var totalTimeout: Duration?
    /// Fewer bytes per second over this time end a body as ``ClientError/stalled``; nil: no limit. It holds for a file that is sent, too.
    public var lowSpeedLimit: (bytesPerSecond: Double, over: Duration)? = (1, .seconds(30))
    /// What the body's speed is limited by, from the narrowest to the widest. Transfers that have the first one in common share one
    /// part of the others. Time spent waiting for them is no stall.
    public var speedLimiters: [SpeedLimiter] = []
    /// How many redirects are followed; with 0 the first one ends as ``ClientError/tooManyRedirects``, and with nil it is a response
    /// like any other.
    public var maximumRedirects: Int? = 20
    /// Whether compressed content may be asked for, and is decoded. By default `Accept-Encoding: identity` is sent and nothing is
    /// decoded, since byte positions of a compressed body mean nothing for the file.
    public var acceptsEncodings = false

    /// A GET of the URL with the default limits.
    public init(url: HTTPURL) {
        self.url = url
    }

    /// Whether the client alone writes this field: what frames the message, belongs to the connection, or is another property here.
    public static func reserves(_ name: FieldName) -> Bool {
        reservedNames.contains(name.lowercased)
    }

    private static let reservedNames: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "if-range", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension ClientRequest {
    /// Why the request cannot be sent, if so: a method that is no token, or a field that is not legal or not the caller's.
    func problem() -> ClientError? {
        guard FieldName(method) != nil, method != "CONNECT" else {
            return .invalidRequest("\"\(method)\" is not a usable method")
        }
        for field in fields {
            guard let name = FieldName(field.name) else {
                return .invalidRequest("\"\(field.name)\" is not a field name")
            }
            if Self.reserves(name) { return .invalidRequest("the field \(name) is set by the client itself") }
            // The value may be a secret: it is not repeated here.
            if !Self.isFieldValue(field.value) { return .invalidRequest("the value of \(name) has control characters") }
        }
        if let range, !Self.isFieldValue(range) { return .invalidRequest("the range has control characters") }
        if let ifRange, !Self.isFieldValue(ifRange.bytes) { return .invalidRequest("the If-Range value has control characters") }
        return nil
    }

    /// RFC 9110 §5.5: no control characters but HTAB.
    private static func isFieldValue(_ value: String) -> Bool { isFieldValue(Array(value.utf8)) }

    private static func isFieldValue(_ value: [UInt8]) -> Bool {
        value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
