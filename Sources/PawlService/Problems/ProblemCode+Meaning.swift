/// The meaning of each kind of problem, and the remedy, for readers of the page that a problem's `type` links to.
extension ProblemCode {
    var meaning: String {
        switch self {
        case .invalidRequest:
            "The request is malformed, or a value in it is not acceptable. The detail names the parameter or member and what it takes."
        case .unauthorized: "The service was started with a token. Send it as Authorization: Bearer and the token."
        case .destinationForbidden:
            "The destination guard refuses the URL's host or address, such as one of a private network. The operator can allow it with --allow-destination."
        case .originNotAllowed:
            "A web page of another origin may not change anything. The operator can allow it with --cors-origin."
        case .insufficientScope:
            "The token is right, and its scope does not include this: read only reads, metrics only reads /metrics. The detail names the token. The operator gives scopes in --tokens-file."
        case .hostNotAllowed: "The Host field is not a name of this service. The operator can add one with --allowed-host."
        case .notFound: "There is no such path, download, file or search result; it may have been removed."
        case .methodNotAllowed: "The path exists and does not take this method. The Allow field lists those that it takes."
        case .requestTimeout: "The request came too slowly, and the connection was closed."
        case .illegalTransition: "The download is in a state in which this is not possible. The member state tells which."
        case .notComplete: "The file can be read once its download is completed. The member state tells where it is."
        case .duplicate:
            "The URL is being, or has been, downloaded, and the request asked with onDuplicate: reject to be told. The member id names that download."
        case .searchSuperseded: "A newer search of the same session replaced this one. Its response is the one to wait for."
        case .preconditionFailed:
            "It is not, or no longer, what If-Match, If-None-Match or If-Unmodified-Since names. Read it anew."
        case .payloadTooLarge: "A body has at most 1 MiB. A batch that is larger has to be sent in parts."
        case .targetTooLong: "The path and query have at most 8 KiB."
        case .unsupportedMediaType: "The body must be JSON in UTF-8, and say so: Content-Type: application/json."
        case .rangeNotSatisfiable: "The range begins behind the end of the file. Content-Range tells its length."
        case .expectationFailed: "The Expect field asks for something other than 100-continue."
        case .idempotencyMismatch: "The Idempotency-Key was used for a request with another body. A new request takes a new key."
        case .rateLimited: "Too many requests came from this client. Retry-After tells when to come again."
        case .headTooLarge: "The head of a request has at most 80 KiB and 100 fields."
        case .internalError: "The service failed. Its log has a line about it, with the X-Request-Id of the response."
        case .notImplemented:
            "The request asks for something that HTTP knows and this service does not, such as a transfer coding."
        case .upstreamRejected: "The search source answered with an error, or not with what it promises."
        case .upstreamUnreachable: "The search source could not be connected to, or the connection broke."
        case .unavailable: "The service is starting, stopping or overloaded. Retry-After tells when to come again."
        case .upstreamRateLimited: "Each search source is asked only so often. Retry-After tells when to come again."
        case .upstreamTimeout: "The search source did not answer in time. Trying again may help."
        case .versionNotSupported: "The request is of another major version of HTTP than 1."
        case .insufficientStorage: "The disk has not enough free space. Records, or the rest of a file, could not be kept."
        }
    }
}
