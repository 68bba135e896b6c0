internal import HTTPCore

/// The meaning of each kind of problem, and the remedy, for readers of the page that a problem's `type` links to.
extension ProblemCode {
    var meaning: String {
        switch self {
        case .invalidRequest:
            "The request is malformed, or a value in it is not valid. The detail names the parameter or member and the accepted values."
        case .unauthorized:
            "The request has no token, or its token is wrong. Send the token in the Authorization field, after the word Bearer."
        case .destinationForbidden:
            "The destination guard refuses the host or address in the URL, for example an address of a private network. The operator can allow it with --allow-destination."
        case .originNotAllowed:
            "A web page of another origin or site sent the request. The operator can allow the origin with --cors-origin."
        case .insufficientScope:
            "The token is valid, but its scope does not include this operation. The scope read allows reading only, and metrics allows only /metrics. The detail names the token. The operator sets scopes in the file of --tokens-file."
        case .hostNotAllowed:
            "The Host field does not contain a name of this service. The operator can add a name with --allowed-host."
        case .notFound: "The path, download, file or search result does not exist. It may have been removed."
        case .methodNotAllowed:
            "The path exists but does not support this method. The Allow field lists the supported methods."
        case .requestTimeout: "The client sent the request too slowly, and the service closed the connection."
        case .illegalTransition:
            "The state of the download or item does not allow this operation. The member state contains that of a download."
        case .notComplete:
            "The file can be read once its download is completed. The member state contains the download's state."
        case .duplicate:
            "A download of this URL exists, and the request has onDuplicate: reject. The member id contains the id of that download."
        case .searchSuperseded:
            "A newer search of the same session replaced this one. Use the response of the newer search."
        case .preconditionFailed:
            "The current version does not meet the condition in If-Match, If-None-Match or If-Unmodified-Since. Read the current version, and try again."
        case .payloadTooLarge: "The request body is larger than 1 MiB. Divide a large batch into several requests."
        case .targetTooLong: "The path and query are longer than 8 KiB together."
        case .unsupportedMediaType:
            "The request body must be JSON in UTF-8, with the field Content-Type: application/json and without a Content-Encoding. POST /subscriptions/import takes OPML in its place, as text/x-opml."
        case .rangeNotSatisfiable: "The range begins after the end of the file. Content-Range contains the file's length."
        case .expectationFailed:
            "The Expect field has a value other than 100-continue. The service supports no other expectation."
        case .idempotencyMismatch:
            "The Idempotency-Key was used for a request with another body. Use a new key for a new request."
        case .rateLimited:
            "The client sent too many requests or wrong tokens. Try again after the number of seconds in Retry-After."
        case .headTooLarge: "The request head is larger than 80 KiB or has more than 100 fields."
        case .internalError:
            "The service failed during the request. Search its log for the line with the X-Request-Id of the response."
        case .notImplemented:
            "This service does not support the request: a feature of HTTP, such as a transfer coding, or subscriptions in a fleet."
        case .upstreamRejected: "The search source sent an error or an invalid response."
        case .upstreamUnreachable:
            "The service could not connect to the search source, or the connection broke."
        case .unavailable:
            "The service is starting, stopping or overloaded, or cannot write its records at present. Try again after the number of seconds in Retry-After."
        case .upstreamRateLimited:
            "The limit of requests to the search source is reached. Try again after the number of seconds in Retry-After."
        case .upstreamTimeout: "The search source did not answer in time. Try again."
        case .versionNotSupported: "The request uses a major version of HTTP other than 1."
        case .insufficientStorage:
            "The disk does not have enough free space for the records or the file. Free some space, and try again."
        }
    }
}
