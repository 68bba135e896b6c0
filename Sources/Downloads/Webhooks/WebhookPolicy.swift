internal import HTTPClient

/// What follows an attempt to deliver a message to a webhook.
struct WebhookPolicy: Sendable {
    /// The most the first delay can be.
    var firstDelay: Duration = .seconds(5)
    /// The most any delay can be.
    var longestDelay: Duration = .seconds(900)
    /// Attempts in all. With the delays above they are spread over an hour and a half at most: long enough for a deployment
    /// at the other end, short enough that the news still is some.
    var maximumAttempts = 12

    /// The pause between messages that were under way at a crash: they are sent one after another.
    static let suspectPause: Duration = .seconds(10)

    /// The attempts that count for a message which was under way when the service crashed: as many crashes in a row as pause a download
    /// use up all attempts.
    func attempts(afterCrash attempts: Int) -> Int {
        attempts + (maximumAttempts + CrashSuspicion.limit - 1) / CrashSuspicion.limit
    }

    /// The most that a message waits after so many attempts; nothing before the first.
    func longestPause(after attempts: Int) -> Duration {
        attempts == 0 ? .zero : retries.longestDelay(afterAttemptsWithoutProgress: attempts)
    }

    private var retries: RetryPolicy { RetryPolicy(firstDelay: firstDelay, longestDelay: longestDelay) }

    /// What to do.
    enum Verdict: Sendable, Equatable {
        /// Nothing: it has arrived.
        case delivered
        /// Try again after the delay.
        case retry(after: Duration, because: String)
        /// Give up: it will not arrive, and why.
        case giveUp(String)
        /// Nothing for now: the attempt was broken off by ourselves, and does not count.
        case interrupted
    }

    /// Decides what follows an attempt.
    /// - Parameters:
    ///   - result: the status of the response, or why there is none.
    ///   - attempts: how many have been made, this one included.
    ///   - random: where the jitter comes from.
    func verdict(
        on result: Result<Int, ClientError>, attempts: Int, using random: inout some RandomNumberGenerator
    ) -> Verdict {
        let reason: String
        switch result {
        case .success(200..<300): return .delivered
        // The receiver is overloaded, restarting or behind a proxy that is.
        case .success(let status) where status >= 500 || [408, 425, 429].contains(status): reason = "it answered \(status)"
        // It has understood and does not want it; or it is elsewhere, which its owner has to say.
        case .success(let status): return .giveUp("it answered \(status)")
        case .failure(.cancelled), .failure(.stopped): return .interrupted
        case .failure(let error):
            guard Self.mayPass(error) else { return .giveUp(error.message) }
            reason = error.message
        }
        guard attempts < maximumAttempts else { return .giveUp("\(reason), \(attempts) times") }
        return .retry(
            after: retries.delay(afterAttemptsWithoutProgress: attempts, retryAfter: nil, using: &random), because: reason)
    }

    private static func mayPass(_ error: ClientError) -> Bool {
        switch error {
        case .connectionFailed, .timedOut, .stalled, .transferBroken, .tls, .invalidResponse, .proxyRefused: true
        case .destinationForbidden, .unsupportedScheme, .invalidRedirect, .tooManyRedirects, .unsupportedEncoding, .bodyTooLarge,
            .invalidRequest, .cancelled, .stopped:
            false
        }
    }
}
