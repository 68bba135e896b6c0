/// Why a request is refused while it is read. The connection can't be used any further: where the next request begins is
/// unknown.
public enum RequestError: Error, Sendable, Hashable {
    /// The request-line is not `method SP target SP version`; the text says what is wrong.
    case malformedRequestLine(String)
    /// A line ends in a bare LF, or holds a CR that no LF follows: RFC 9112 §2.2.
    case bareLineEnd
    /// The method is longer than any known one; the limit in bytes.
    case methodTooLong(limit: Int)
    /// CONNECT, which only proxies serve.
    case connectRefused
    /// The limit in bytes.
    case targetTooLong(limit: Int)
    /// The target is in none of the forms of RFC 9112 §3.2, or in one its method doesn't take; the text says why.
    case malformedTarget(String)
    /// An absolute-form with this scheme, whose requirements the connection doesn't meet.
    case schemeNotServed(String)
    /// Another major version than 1.
    case unsupportedVersion(HTTPVersion)
    /// The limit in bytes.
    case headTooLarge(limit: Int)
    /// The limit in fields.
    case tooManyFields(limit: Int)
    /// A field line is not `name ":" OWS value OWS`; the text says what is wrong.
    case malformedField(String)
    /// Host is missing, repeated or not a host; the text says which.
    case invalidHost(String)
    /// Both Content-Length and Transfer-Encoding: RFC 9112 §6.1 calls it an attempt at smuggling.
    case conflictingFraming
    /// Content-Length is repeated or not a number that fits; the text says which.
    case invalidContentLength(String)
    /// Transfer-Encoding is not one final `chunked`; the text says what it is.
    case invalidTransferEncoding(String)
    /// A transfer coding that isn't implemented, before a final `chunked`.
    case unsupportedTransferCoding(String)
    /// An expectation other than `100-continue`.
    case unsupportedExpectation(String)
    /// The chunked framing is broken; the text says how.
    case malformedChunk(String)
    /// The body is longer than the limit in bytes.
    case contentTooLarge(limit: Int)
    /// The trailer section is longer than the limit in bytes, or has too many fields.
    case trailersTooLarge(limit: Int)

    /// The status that refuses it.
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

    /// What was wrong and what is accepted, as a sentence.
    public var detail: String {
        switch self {
        case .malformedRequestLine(let reason): "Malformed request line: \(reason)."
        case .bareLineEnd: "A line ends in a CR or LF alone; lines end in CR LF."
        case .methodTooLong(let limit): "The method is longer than \(limit) bytes; no method that long is known."
        case .connectRefused: "CONNECT is not implemented; this is not a proxy."
        case .targetTooLong(let limit): "The request target is longer than \(limit) bytes."
        case .malformedTarget(let reason): "Malformed request target: \(reason)."
        case .schemeNotServed(let scheme): "This connection does not serve \(scheme) URLs; http ones it does."
        case .unsupportedVersion(let version): "\(version) is not supported; HTTP/1.1 and HTTP/1.0 are."
        case .headTooLarge(let limit): "Request line and fields are longer than \(limit) bytes together."
        case .tooManyFields(let limit): "The request has more than \(limit) fields."
        case .malformedField(let reason): "Malformed field: \(reason)."
        case .invalidHost(let reason): "Invalid Host: \(reason)."
        case .conflictingFraming: "The request has both Content-Length and Transfer-Encoding; send one."
        case .invalidContentLength(let reason): "Invalid Content-Length: \(reason)."
        case .invalidTransferEncoding(let reason): "Invalid Transfer-Encoding: \(reason)."
        case .unsupportedTransferCoding(let coding): "The transfer coding \(coding) is not implemented; chunked is."
        case .unsupportedExpectation(let value): "The expectation \(value) can't be met; 100-continue can."
        case .malformedChunk(let reason): "Malformed chunked body: \(reason)."
        case .contentTooLarge(let limit): "The body is longer than \(limit) bytes."
        case .trailersTooLarge(let limit): "The trailer section is longer than \(limit) bytes or has too many fields."
        }
    }
}

extension RequestError: CustomStringConvertible {
    /// The same as `detail`.
    public var description: String { detail }
}
