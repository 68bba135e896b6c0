/// The kinds of problem, spelled as clients see them.
public enum ProblemCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid-request"
    case unauthorized
    case destinationForbidden = "destination-forbidden"
    case originNotAllowed = "origin-not-allowed"
    case insufficientScope = "insufficient-scope"
    case hostNotAllowed = "host-not-allowed"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case requestTimeout = "request-timeout"
    case illegalTransition = "illegal-transition"
    case notComplete = "not-complete"
    case duplicate
    case searchSuperseded = "search-superseded"
    case preconditionFailed = "precondition-failed"
    case payloadTooLarge = "payload-too-large"
    case targetTooLong = "target-too-long"
    case unsupportedMediaType = "unsupported-media-type"
    case rangeNotSatisfiable = "range-not-satisfiable"
    case expectationFailed = "expectation-failed"
    case idempotencyMismatch = "idempotency-mismatch"
    case rateLimited = "rate-limited"
    case headTooLarge = "head-too-large"
    case internalError = "internal-error"
    case notImplemented = "not-implemented"
    case upstreamRejected = "upstream-rejected"
    case upstreamUnreachable = "upstream-unreachable"
    case unavailable
    case upstreamRateLimited = "upstream-rate-limited"
    case upstreamTimeout = "upstream-timeout"
    case versionNotSupported = "version-not-supported"
    case insufficientStorage = "insufficient-storage"

    /// The status of a response with this code.
    public var status: HTTPStatus { HTTPStatus(row.status) }

    /// The title, the same for every occurrence (RFC 9457 §3.1.3).
    public var title: String { row.title }

    private var row: (status: Int, title: String) {
        switch self {
        case .invalidRequest: (400, "The request is not valid")
        case .unauthorized: (401, "A valid token is needed")
        case .destinationForbidden: (403, "The destination is forbidden")
        case .originNotAllowed: (403, "The origin is not allowed")
        case .insufficientScope: (403, "The token does not allow this")
        case .hostNotAllowed: (421, "The host is not a name of this service")
        case .notFound: (404, "Not found")
        case .methodNotAllowed: (405, "The method is not allowed here")
        case .requestTimeout: (408, "The request took too long")
        case .illegalTransition: (409, "The state does not allow this")
        case .notComplete: (409, "The file is not complete")
        case .duplicate: (409, "There is a download of this URL")
        case .searchSuperseded: (409, "A newer search replaced this one")
        case .preconditionFailed: (412, "A precondition is not met")
        case .payloadTooLarge: (413, "The body is too large")
        case .targetTooLong: (414, "The request target is too long")
        case .unsupportedMediaType: (415, "The media type of the body is not accepted")
        case .rangeNotSatisfiable: (416, "The range is outside the file")
        case .expectationFailed: (417, "The expectation cannot be met")
        case .idempotencyMismatch: (422, "The idempotency key was used for another request")
        case .rateLimited: (429, "Too many requests")
        case .headTooLarge: (431, "The request head is too large")
        case .internalError: (500, "The service failed")
        case .notImplemented: (501, "Not implemented")
        case .upstreamRejected: (502, "The search source sent an error or an invalid response")
        case .upstreamUnreachable: (502, "The search source cannot be reached")
        case .unavailable: (503, "The service is not available")
        case .upstreamRateLimited: (503, "The limit of requests to the search source is reached")
        case .upstreamTimeout: (504, "The search source did not answer in time")
        case .versionNotSupported: (505, "The HTTP version is not supported")
        case .insufficientStorage: (507, "There is not enough free disk space")
        }
    }
}
