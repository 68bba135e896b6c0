internal import DownloadCore
internal import HTTPClient

/// Decides what follows an attempt to deliver a message to a webhook.
struct WebhookPolicy: Sendable {
    /// The upper limit of the first delay.
    var firstDelay: Duration = .seconds(5)
    /// The upper limit of all delays.
    var longestDelay: Duration = .seconds(900)
    /// The maximum number of attempts. The delays above add up to 66 minutes at most. That is long enough for a
    /// deployment of the receiver, and short enough that the message is still of interest.
    var maximumAttempts = 12

    /// The pause between messages that were under way at a crash. They are sent one after another.
    static let suspectPause: Duration = .seconds(10)

    /// Returns the number of attempts of a message that was under way at a crash. The number of crashes in a row that
    /// pauses a download uses up all attempts.
    func attempts(afterCrash attempts: Int) -> Int {
        attempts + (maximumAttempts + CrashSuspicion.limit - 1) / CrashSuspicion.limit
    }

    /// Returns the longest wait of a message after a number of attempts; zero before the first.
    func longestPause(after attempts: Int) -> Duration {
        attempts == 0 ? .zero : retries.longestDelay(afterAttemptsWithoutProgress: attempts)
    }

    private var retries: RetryPolicy { RetryPolicy(firstDelay: firstDelay, longestDelay: longestDelay) }

    /// The decision after an attempt.
    enum Verdict: Sendable, Equatable {
        /// The receiver has accepted the message.
        case delivered
        /// Another attempt follows after the delay.
        case retry(after: Duration, because: String)
        /// The message is abandoned, for this reason.
        case abandon(String)
        /// The service has cancelled the attempt, so it does not count.
        case interrupted
    }

    /// Decides what follows an attempt.
    /// - Parameters:
    ///   - result: The status of the response, or the reason why there is none.
    ///   - attempts: The number of attempts so far, including this one.
    ///   - random: The generator of the jitter.
    func verdict(
        on result: Result<Int, ClientError>, attempts: Int, using random: inout some RandomNumberGenerator
    ) -> Verdict {
        let reason: String
        switch result {
        case .success(let status):
            guard let objection = Self.objection(to: status) else { return .delivered }
            // The receiver refuses the message, or has another URL, which its owner has to configure.
            guard status >= 500 || [408, 425, 429].contains(status) else { return .abandon(objection) }
            // The receiver, or a proxy before it, is overloaded or restarting.
            reason = objection
        case .failure(.cancelled), .failure(.stopped): return .interrupted
        case .failure(let error):
            guard Self.mayPass(error) else { return .abandon(error.message) }
            reason = error.message
        }
        guard attempts < maximumAttempts else { return .abandon("\(reason), \(attempts) times") }
        return .retry(
            after: retries.delay(afterAttemptsWithoutProgress: attempts, retryAfter: nil, using: &random), because: reason)
    }

    /// Returns the reason why a response with this status accepts no message; `nil`: it does.
    static func objection(to status: Int) -> String? {
        (200..<300).contains(status) ? nil : "it answered \(status)"
    }

    private static func mayPass(_ error: ClientError) -> Bool {
        switch error {
        case .connectionFailed, .timedOut, .stalled, .transferBroken, .tls, .invalidResponse, .onlyHTTP2, .proxyRefused: true
        case .destinationForbidden, .unsupportedScheme, .invalidRedirect, .tooManyRedirects, .unsupportedEncoding, .bodyTooLarge,
            .invalidRequest, .cancelled, .stopped:
            false
        }
    }
}
