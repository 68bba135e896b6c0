internal import HTTPCore

/// The kinds of problem, spelled as clients see them.
enum ProblemCode: String, Sendable, CaseIterable {
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
    var status: HTTPStatus {
        HTTPStatus(statusCode)
    }

    private var statusCode: Int {
        switch self {
        case .invalidRequest: 400
        case .unauthorized: 401
        case .destinationForbidden, .originNotAllowed, .insufficientScope: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .illegalTransition, .notComplete, .duplicate, .searchSuperseded: 409
        case .preconditionFailed: 412
        case .payloadTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType: 415
        case .rangeNotSatisfiable: 416
        case .expectationFailed: 417
        case .hostNotAllowed: 421
        case .idempotencyMismatch: 422
        case .rateLimited: 429
        case .headTooLarge: 431
        case .internalError: 500
        case .notImplemented: 501
        case .upstreamRejected, .upstreamUnreachable: 502
        case .unavailable, .upstreamRateLimited: 503
        case .upstreamTimeout: 504
        case .versionNotSupported: 505
        case .insufficientStorage: 507
        }
    }

    /// The title, the same for every occurrence (RFC 9457 §3.1.3).
    var title: String {
        switch self {
        case .invalidRequest: "The request is not valid"
        case .unauthorized: "A valid token is needed"
        case .destinationForbidden: "The destination is forbidden"
        case .originNotAllowed: "The origin is not allowed"
        case .insufficientScope: "The token does not allow this"
        case .hostNotAllowed: "The host is not a name of this service"
        case .notFound: "Not found"
        case .methodNotAllowed: "The method is not allowed here"
        case .requestTimeout: "The request took too long"
        case .illegalTransition: "The state does not allow this"
        case .notComplete: "The file is not complete"
        case .duplicate: "There is a download of this URL"
        case .searchSuperseded: "A newer search replaced this one"
        case .preconditionFailed: "A precondition is not met"
        case .payloadTooLarge: "The body is too large"
        case .targetTooLong: "The request target is too long"
        case .unsupportedMediaType: "The media type of the body is not accepted"
        case .rangeNotSatisfiable: "The range is outside the file"
        case .expectationFailed: "The expectation cannot be met"
        case .idempotencyMismatch: "The idempotency key was used for another request"
        case .rateLimited: "Too many requests"
        case .headTooLarge: "The request head is too large"
        case .internalError: "The service failed"
        case .notImplemented: "Not implemented"
        case .upstreamRejected: "The search source sent an error or an invalid response"
        case .upstreamUnreachable: "The search source cannot be reached"
        case .unavailable: "The service is not available"
        case .upstreamRateLimited: "The limit of requests to the search source is reached"
        case .upstreamTimeout: "The search source did not answer in time"
        case .versionNotSupported: "The HTTP version is not supported"
        case .insufficientStorage: "There is not enough free disk space"
        }
    }

    /// The code of a refusal by the server, from its status.
    init(refusing status: HTTPStatus) {
        self =
            switch status.code {
            case 401: .unauthorized
            case 404: .notFound
            case 405: .methodNotAllowed
            case 408: .requestTimeout
            case 412: .preconditionFailed
            case 413: .payloadTooLarge
            case 414: .targetTooLong
            case 415: .unsupportedMediaType
            case 416: .rangeNotSatisfiable
            case 417: .expectationFailed
            case 421: .hostNotAllowed
            case 429: .rateLimited
            case 431: .headTooLarge
            case 501: .notImplemented
            case 503: .unavailable
            case 505: .versionNotSupported
            case 507: .insufficientStorage
            default: status.isServerError ? .internalError : .invalidRequest
            }
    }
}
