/// Why a search or a lookup has no response. Each case is one kind of problem for the client; texts are sentences for people.
public enum CatalogError: Error, Sendable, Equatable {
    /// A parameter is unknown, repeated or has a bad value; the text names parameter, value and what is accepted.
    case invalidRequest(String)
    /// A newer search of the same session replaced this one.
    case superseded
    /// The source has nothing under the id.
    case notFound(String)
    /// The source responded with an error, or not with the status, media type or shape that it promises.
    case upstreamRejected(String)
    /// No connection, TLS failure, or a transfer that broke.
    case upstreamUnreachable(String)
    /// The source throttles, or the budget of requests to it is used up; another attempt makes sense after this time, which
    /// is more than zero.
    case upstreamRateLimited(retryAfter: Duration)
    /// The source took longer than ``CatalogConfiguration/totalTimeout``.
    case upstreamTimeout(String)
    /// The task that waited was cancelled.
    case cancelled
}
