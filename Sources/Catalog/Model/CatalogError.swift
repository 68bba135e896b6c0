public import HTTPCore

/// The reason why a search or a lookup has no response. Each case is a kind of problem; texts are sentences for people.
public enum CatalogError: Error, Sendable, Equatable {
    /// A parameter is unknown, repeated or has an invalid value; the text names parameter, value and accepted values.
    case invalidRequest(String)
    /// A newer search of the same session replaced this one.
    case superseded
    /// The source has no item with the id.
    case notFound(String)
    /// The caller named a host that the destination guard forbids.
    case destinationForbidden(String)
    /// The source responded with an error, or with an unexpected status, media type or shape. The status is `nil` if no
    /// response was complete.
    case upstreamRejected(String, httpStatus: Int? = nil)
    /// No connection could be made, TLS failed, or the transfer broke.
    case upstreamUnreachable(String)
    /// The source throttles, or its rate budget is used up. Another attempt may succeed after this time, which is more
    /// than zero. The status is `nil` if there was no request.
    case upstreamRateLimited(retryAfter: Duration, httpStatus: Int? = nil)
    /// The source took longer than ``CatalogConfiguration/totalTimeout``.
    case upstreamTimeout(String)
    /// The waiting task was cancelled.
    case cancelled
}

extension CatalogError: ProblemCause {
    /// The problem that a client sees.
    public var problem: Problem {
        switch self {
        case .invalidRequest(let reason): Problem(.invalidRequest, reason)
        case .superseded: Problem(.searchSuperseded, "a newer search of the same session replaced this one")
        case .notFound(let reason): Problem(.notFound, reason)
        case .destinationForbidden(let reason): Problem(.destinationForbidden, reason)
        case .upstreamRejected(let reason, _): Problem(.upstreamRejected, reason)
        case .upstreamUnreachable(let reason): Problem(.upstreamUnreachable, reason)
        case .upstreamRateLimited(let delay, _):
            Problem(
                .upstreamRateLimited,
                "the limit of requests to the search source is reached; try again in \(Problem.seconds(delay)) s",
                retryAfter: Problem.seconds(delay))
        case .upstreamTimeout(let reason): Problem(.upstreamTimeout, reason)
        case .cancelled: Problem(.unavailable, "the search was cancelled")
        }
    }
}
