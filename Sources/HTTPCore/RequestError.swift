/// The reason why a request is refused while it is read. The connection must be closed afterwards, since the beginning
/// of the next request is unknown.
public enum RequestError: Error, Sendable, Hashable {
    /// The request line is not `method SP target SP version`; the text gives the fault.
    case malformedRequestLine(String)
    /// A line ends in a bare LF, or contains a CR without LF: RFC 9112 §2.2.
    case bareLineEnd
    /// The method exceeds the limit, in bytes, which is above all known methods.
    case methodTooLong(limit: Int)
    /// The method is CONNECT, which only proxies serve.
    case connectRefused
    /// The target exceeds the limit, in bytes.
    case targetTooLong(limit: Int)
    /// The target has none of the forms of RFC 9112 §3.2, or a form that the method does not allow; the text gives the
    /// fault.
    case malformedTarget(String)
    /// The target is in absolute-form with this scheme, whose requirements the connection does not meet.
    case schemeNotServed(String)
    /// The major version is not 1.
    case unsupportedVersion(HTTPVersion)
    /// The head exceeds the limit, in bytes.
    case headTooLarge(limit: Int)
    /// The section has more fields than the limit.
    case tooManyFields(limit: Int)
    /// A field line is not `name ":" OWS value OWS`; the text gives the fault.
    case malformedField(String)
    /// Host is missing, repeated or invalid; the text gives the fault.
    case invalidHost(String)
    /// The request has both Content-Length and Transfer-Encoding, which RFC 9112 §6.1 calls an attempt at smuggling.
    case conflictingFraming
    /// Content-Length is repeated or not a number in range; the text gives the fault.
    case invalidContentLength(String)
    /// Transfer-Encoding is not one final `chunked`; the text gives the fault.
    case invalidTransferEncoding(String)
    /// A transfer coding before the final `chunked` is not implemented.
    case unsupportedTransferCoding(String)
    /// The expectation is not `100-continue`.
    case unsupportedExpectation(String)
    /// The chunked framing is malformed; the text gives the fault.
    case malformedChunk(String)
    /// The body exceeds the limit, in bytes.
    case contentTooLarge(limit: Int)
    /// The trailer section exceeds the limit, in bytes, or has too many fields.
    case trailersTooLarge(limit: Int)

    /// The status of the response that refuses the request.
    public var status: HTTPStatus {
        switch self {
        case .malformedRequestLine, .bareLineEnd, .malformedTarget, .malformedField, .invalidHost, .conflictingFraming,
            .invalidContentLength, .invalidTransferEncoding, .malformedChunk:
            .badRequest
        case .methodTooLong, .connectRefused, .unsupportedTransferCoding: .notImplemented
        case .targetTooLong: .uriTooLong
        case .schemeNotServed: .misdirectedRequest
        case .unsupportedVersion: .httpVersionNotSupported
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .requestHeaderFieldsTooLarge
        case .unsupportedExpectation: .expectationFailed
        case .contentTooLarge: .contentTooLarge
        }
    }

    /// The fault and the accepted form, as a sentence.
    public var detail: String {
        switch self {
        case .malformedRequestLine(let reason): "Malformed request line: \(reason)."
        case .bareLineEnd: "A line ends in a CR or LF alone; lines end in CR LF."
        case .methodTooLong(let limit): "The method is longer than \(limit) bytes; no method that long is known."
        case .connectRefused: "CONNECT is not implemented; this is not a proxy."
        case .targetTooLong(let limit): "The request target is longer than \(limit) bytes."
        case .malformedTarget(let reason): "Malformed request target: \(reason)."
        case .schemeNotServed(let scheme): "This connection serves http URLs, not \(scheme) URLs."
        case .unsupportedVersion(let version): "\(version) is not supported; HTTP/1.1 and HTTP/1.0 are."
        case .headTooLarge(let limit): "Request line and fields are longer than \(limit) bytes together."
        case .tooManyFields(let limit): "The request has more than \(limit) fields."
        case .malformedField(let reason): "Malformed field: \(reason)."
        case .invalidHost(let reason): "Invalid Host: \(reason)."
        case .conflictingFraming: "The request has both Content-Length and Transfer-Encoding; send one."
        case .invalidContentLength(let reason): "Invalid Content-Length: \(reason)."
        case .invalidTransferEncoding(let reason): "Invalid Transfer-Encoding: \(reason)."
        case .unsupportedTransferCoding(let coding): "The transfer coding \(coding) is not implemented; chunked is."
        case .unsupportedExpectation(let value): "The expectation \(value) is not supported; 100-continue is."
        case .malformedChunk(let reason): "Malformed chunked body: \(reason)."
        case .contentTooLarge(let limit): "The body is longer than \(limit) bytes."
        case .trailersTooLarge(let limit): "The trailer section is longer than \(limit) bytes or has too many fields."
        }
    }
}

extension RequestError: CustomStringConvertible {
    /// The same as ``detail``.
    public var description: String { detail }
}
