internal import Catalog
internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import Subscriptions

/// Maps the errors of each module to problems. No other place decides how errors appear to clients.
extension Problem {
    /// Calls the download service, and rethrows its errors as problems.
    static func rethrowing<Value>(
        downloads work: @autoclosure () async throws(DownloadError) -> Value
    ) async throws(Problem) -> Value {
        do throws(DownloadError) {
            return try await work()
        } catch {
            throw Problem(error)
        }
    }

    /// Calls the catalogue, and rethrows its errors as problems.
    static func rethrowing<Value>(
        catalog work: @autoclosure () async throws(CatalogError) -> Value
    ) async throws(Problem) -> Value {
        do throws(CatalogError) {
            return try await work()
        } catch {
            throw Problem(error)
        }
    }

    /// A refusal of the download service.
    init(_ error: DownloadError) {
        self.init(Addition.Refusal(error))
        switch error {
        case .overloaded, .directoryAway, .storeAway, .unconfirmed, .shuttingDown: retryAfter = 5
        default: break
        }
    }

    /// A refusal, possibly of an earlier request.
    init(_ refusal: Addition.Refusal) {
        self.init(ProblemCode(rawValue: refusal.code) ?? .internalError, refusal.detail, state: refusal.state, id: refusal.id)
    }

    /// A refusal to change the settings.
    init(changingSettings error: DownloadError) {
        guard error != .preconditionFailed else {
            self.init(
                .preconditionFailed, "the settings do not meet the condition in If-Match or If-None-Match; read them again")
            return
        }
        self.init(error)
    }

    /// The reason why a finished file cannot be served.
    init(_ error: FinishedFileError) {
        switch error {
        case .gone: self.init(.notFound, "the file is gone")
        // A lack of descriptors or memory, or a failing disk, does not mean that the file is gone.
        case .unavailable(let reason): self.init(.unavailable, "the file cannot be opened now: \(reason)", retryAfter: 1)
        }
    }

    /// An error of a search.
    init(_ error: CatalogError) {
        switch error {
        case .invalidRequest(let reason): self.init(.invalidRequest, reason)
        case .superseded: self.init(.searchSuperseded, "a newer search of the same session replaced this one")
        case .notFound(let reason): self.init(.notFound, reason)
        case .destinationForbidden(let reason): self.init(.destinationForbidden, reason)
        case .upstreamRejected(let reason, _): self.init(.upstreamRejected, reason)
        case .upstreamUnreachable(let reason): self.init(.upstreamUnreachable, reason)
        case .upstreamRateLimited(let delay, _):
            let seconds = Self.wholeSeconds(delay)
            self.init(
                .upstreamRateLimited, "the limit of requests to the search source is reached; try again in \(seconds) s",
                retryAfter: seconds)
        case .upstreamTimeout(let reason): self.init(.upstreamTimeout, reason)
        case .cancelled: self.init(.unavailable, "the search was cancelled")
        }
    }

    /// Calls the subscription service, and rethrows its errors as problems.
    static func rethrowing<Value>(
        subscriptions work: @autoclosure () async throws(SubscriptionError) -> Value
    ) async throws(Problem) -> Value {
        do throws(SubscriptionError) {
            return try await work()
        } catch {
            throw Problem(error)
        }
    }

    /// A refusal of the subscription service.
    init(_ error: SubscriptionError) {
        switch error {
        case .notFound: self.init(.notFound, "there is no such subscription")
        case .itemNotFound: self.init(.notFound, "the subscription has no such item")
        case .illegalTransition(let state, let reason):
            self.init(.illegalTransition, reason)
            itemState = state
        case .invalid(let reason): self.init(.invalidRequest, reason)
        case .unlisted(let reason): self.init(.upstreamRejected, reason)
        case .destinationForbidden(let reason): self.init(DownloadError.destinationForbidden(reason))
        case .preconditionFailed:
            self.init(.preconditionFailed, "the version of the subscription does not meet If-Match or If-None-Match")
        case .refused(let error): self.init(error)
        }
    }

    /// A refusal of the server while it reads a request.
    init(_ refusal: Refusal) {
        self.init(ProblemCode(refusing: refusal.status), refusal.detail)
        statusOverride = refusal.status
        if refusal.status.code == 503 { retryAfter = 1 }
    }

    /// A refusal that ends after a delay.
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

    /// The duration in seconds, rounded up, at least 1: the value of `Retry-After`.
    private static func wholeSeconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return max(1, Int(clamping: attoseconds > 0 ? seconds &+ 1 : seconds))
    }
}

extension Addition.Refusal {
    /// A batch item that is refused before it becomes a download.
    init(_ problem: Problem) {
        self.init(code: problem.code.rawValue, detail: problem.detail, state: problem.state, id: problem.id)
    }
}
