internal import Catalog
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Each room's errors as problems: the one place where they are told to clients.
extension Problem {
    /// What the service of downloads refuses.
    init(_ error: DownloadError) {
        switch error {
        case .notFound: self.init(.notFound, "there is no such download")
        case .illegalTransition(let state, let command):
            self.init(.illegalTransition, "a download that is \(state.rawValue) takes no \(command)", state: state)
        case .duplicate(let id):
            self.init(.duplicate, "the URL is being, or has been, downloaded as \(id)", id: id)
        case .destinationForbidden(let reason):
            self.init(
                .destinationForbidden, "the destination guard refuses \(reason); --allow-destination lets a destination through")
        case .invalid(let reason): self.init(.invalidRequest, reason)
        case .insufficientStorage(let reason): self.init(.insufficientStorage, reason)
        case .notComplete(let state):
            self.init(.notComplete, "the download is \(state.rawValue); its file can be read once it is completed", state: state)
        case .preconditionFailed:
            self.init(
                .preconditionFailed, "the download has changed since: it is not the one that If-Match or If-None-Match means")
        case .keyMismatch:
            self.init(.idempotencyMismatch, "the Idempotency-Key was used for a request with another body")
        case .removed(let id):
            self.init(.notFound, "the download that the first request with this Idempotency-Key made has been removed", id: id)
        case .overloaded: self.init(.unavailable, "the disk does not keep up; nothing was done", retryAfter: 5)
        case .shuttingDown: self.init(.unavailable, "the service is stopping", retryAfter: 5)
        case .storeFailed(let reason): self.init(.internalError, "the record could not be kept: \(reason)")
        }
    }

    /// What a search ends in.
    init(_ error: CatalogError) {
        switch error {
        case .invalidRequest(let reason): self.init(.invalidRequest, reason)
        case .superseded: self.init(.searchSuperseded, "a newer search of the same session replaced this one")
        case .notFound(let reason): self.init(.notFound, reason)
        case .upstreamRejected(let reason): self.init(.upstreamRejected, reason)
        case .upstreamUnreachable(let reason): self.init(.upstreamUnreachable, reason)
        case .upstreamRateLimited(let delay):
            self.init(
                .upstreamRateLimited, "the search source takes no more requests for now", retryAfter: Self.wholeSeconds(delay))
        case .upstreamTimeout(let reason): self.init(.upstreamTimeout, reason)
        case .cancelled: self.init(.unavailable, "the search was cancelled")
        }
    }

    /// What the server refuses while it reads a request.
    init(_ refusal: Refusal) {
        self.init(ProblemCode(refusing: refusal.status), refusal.detail)
        statusOverride = refusal.status
        if refusal.status.code == 503 { retryAfter = 1 }
    }

    /// A refusal that ends by itself.
    init(_ code: ProblemCode, _ detail: String, waiting delay: Duration) {
        self.init(code, detail, retryAfter: Self.wholeSeconds(delay))
    }

    /// A query that cannot be decoded.
    init(_ error: QueryError) {
        self.init(.invalidRequest, error.description)
    }

    /// A body that is not JSON.
    init(_ error: JSONError) {
        self.init(.invalidRequest, "the body is not valid JSON: \(error)")
    }

    /// The least number of whole seconds that is no shorter, 1 or more: what `Retry-After` takes.
    private static func wholeSeconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return max(1, Int(clamping: attoseconds > 0 ? seconds &+ 1 : seconds))
    }
}
